import assert from 'node:assert/strict';
import { test } from 'node:test';
import { returnPathOf, withReturnPath } from '#web/wallet-owner/return-path.ts';

test('ON-01 the return path leads to our own page', () => {
  const token = 'aB3_-'.repeat(100);
  for (const path of [
    '/wallet',
    '/wallet/passkeys',
    '/wallet/con_0123456789abcdefghijkl',
    '/wallet/con_0123456789abcdefghijkl/refund',
    `/topup/${token}`,
    `/connect/${token}`,
    '/checkout/chk_0123456789abcdefghijkl',
  ]) {
    assert.equal(returnPathOf(path), path);
  }
});

test('ON-01 the return path leads nowhere else', () => {
  const foreign = [
    null,
    '',
    '/',
    '//evil.test',
    '//evil.test/wallet',
    '///evil.test',
    '/\\evil.test',
    '\\/evil.test',
    '/\t/evil.test',
    '/\n/evil.test',
    '\t//evil.test',
    ' /wallet',
    '/wallet ',
    '/wallet\n',
    '/wallet\n/evil',
    '/%2fevil.test',
    '/%2f%2fevil.test',
    '/wallet%2f..',
    '/wallet/..',
    '/wallet/../account',
    '/wallet/./x',
    '/wallet//evil.test',
    '/wallet/x/y/z',
    '/wallet?next=//evil.test',
    '/wallet#x',
    '/wallet@evil.test',
    '/wallet:80',
    '/walletx',
    '/WALLET',
    'wallet',
    'https://evil.test/wallet',
    'https:/wallet',
    'https:evil.test',
    'javascript:alert(1)',
    'data:text/html,x',
    '/topup',
    '/topup/',
    '/topup/a/b',
    '/topup/a.b',
    '/topup/a%00',
    '/topup/é',
    `/topup/${'a'.repeat(4_097)}`,
    '/connect/../account',
    '/connect//evil.test',
    '/checkout/x/y',
    '/account',
    '/sign-in',
    '/test-processor/x',
    '/dev/mailbox',
    '/wallet/sign-in',
    '/wallet/code',
    '/wallet/sign-out',
  ];
  for (const path of foreign) assert.equal(returnPathOf(path), '/wallet', String(path));
});

test('ON-01 the return path is escaped in an address', () => {
  assert.equal(withReturnPath('/wallet/sign-in', '/wallet'), '/wallet/sign-in');
  assert.equal(withReturnPath('/wallet/sign-in', '/topup/a-b'), '/wallet/sign-in?then=%2Ftopup%2Fa-b');
});
