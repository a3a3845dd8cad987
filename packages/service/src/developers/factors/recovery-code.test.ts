import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newRecoveryCode, proofOfRecoveryCode } from '#developers/factors/recovery-code.ts';
import type { AccountId } from '#kernel/values/ids.ts';

const KEY = Buffer.alloc(32, 'k');
const ACCOUNT = 'acct_1' as AccountId;

test('CP-06 a recovery code ignores formatting and belongs to one account', () => {
  for (let times = 0; times < 100; times += 1) {
    const code = newRecoveryCode();
    assert.match(code, /^[0-9a-hjkmnp-tv-z]{5}-[0-9a-hjkmnp-tv-z]{5}$/);
    const proof = proofOfRecoveryCode(KEY, ACCOUNT, code);
    const typed = ` ${code.toUpperCase().replaceAll('1', 'I').replaceAll('0', 'O').replace('-', ' ')}\n`;
    assert.deepEqual(proofOfRecoveryCode(KEY, ACCOUNT, typed), proof);
    assert.notDeepEqual(proofOfRecoveryCode(KEY, 'acct_2' as AccountId, code), proof);
  }
  for (const wrong of ['', '123456', '0123456789a', '01234-5678u', '01234567é9']) {
    assert.equal(proofOfRecoveryCode(KEY, ACCOUNT, wrong), undefined, wrong);
  }
});
