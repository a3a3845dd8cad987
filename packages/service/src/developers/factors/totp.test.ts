import assert from 'node:assert/strict';
import { test } from 'node:test';
import { base32Of, otpauthUri, stepOfCode, totpOf } from '#developers/factors/totp.ts';

/** The secret of the SHA-1 vectors in RFC 6238, appendix B. */
const SECRET = Buffer.from('12345678901234567890');

test('CP-06 codes are those of RFC 6238, six digits', () => {
  for (const [seconds, code] of [
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ] as const) {
    assert.equal(totpOf(SECRET, Math.floor(seconds / 30)), code.slice(2)); // The document has eight digits.
  }
});

test('CP-06 a code is right one step either side', () => {
  const code = totpOf(SECRET, 1_000);
  const atStep = (step: number) => stepOfCode(SECRET, code, step * 30_000 + 15_000);
  assert.deepEqual([998, 999, 1_000, 1_001, 1_002].map(atStep), [undefined, 1_000, 1_000, 1_000, undefined]);
  for (const wrong of ['', '12345', '1234567', `${code} `, `${code}\n`, '١٢٣٤٥٦']) {
    assert.equal(stepOfCode(SECRET, wrong, 1_000 * 30_000), undefined);
  }
});

test('CP-06 a secret is RFC 4648 base32 in a labelled address', () => {
  for (const [text, written] of [
    ['', ''],
    ['f', 'MY'],
    ['fo', 'MZXQ'],
    ['foo', 'MZXW6'],
    ['foob', 'MZXW6YQ'],
    ['fooba', 'MZXW6YTB'],
    ['foobar', 'MZXW6YTBOI'],
  ] as const) {
    assert.equal(base32Of(Buffer.from(text)), written);
  }
  assert.equal(base32Of(SECRET), 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
  assert.equal(
    otpauthUri('MY', { issuer: 'North & West', email: 'a+b@example.test' }),
    'otpauth://totp/North%20%26%20West:a%2Bb%40example.test?secret=MY&issuer=North%20%26%20West',
  );
});
