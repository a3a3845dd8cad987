import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { qrMatrixOf } from '#web/account/qr-matrix.ts';

function digestOf(text: string): string | undefined {
  const matrix = qrMatrixOf(text)
    ?.map((row) => row.map(Number).join(''))
    .join('\n');
  return matrix && createHash('sha256').update(matrix).digest('hex').slice(0, 16);
}

test('CP-06 QR codes match those an independent reader has read back', () => {
  for (const [length, version, digest] of [
    [17, 1, 'd470c0999b0eedc7'],
    [106, 5, '1e3e70d206b55522'],
    [154, 7, '5385359d91b74acb'],
    [190, 8, 'ac73642e2937e2f3'],
    [271, 10, 'e2a5833bdd83bb86'],
    [272, 11, '36d9d6ff5f3b5d9f'],
    [858, 20, '5e57e62f9cf55472'],
  ] as const) {
    const text = 'otpauth://totp/x'.repeat(60).slice(0, length);
    assert.equal(qrMatrixOf(text)?.length, version * 4 + 17);
    assert.equal(digestOf(text), digest, `version ${version}`);
  }
  assert.equal(qrMatrixOf('x'.repeat(859)), undefined);
});
