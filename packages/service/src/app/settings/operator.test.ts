import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '#app/settings/config.ts';

const SECRET = { PURSER_SECRET: 's'.repeat(32) };

test('OP-02 the operator name defaults to `Purser`, the support address to none', () => {
  const plain = readConfig(SECRET);
  assert.deepEqual([plain.operatorName, plain.supportEmail], ['Purser', undefined]);
  const set = readConfig({ ...SECRET, PURSER_OPERATOR_NAME: 'Ä & <b>', PURSER_SUPPORT_EMAIL: 'help@example.org' });
  assert.deepEqual([set.operatorName, set.supportEmail], ['Ä & <b>', 'help@example.org']);
  const empty = readConfig({ ...SECRET, PURSER_OPERATOR_NAME: '', PURSER_SUPPORT_EMAIL: '' });
  assert.deepEqual([empty.operatorName, empty.supportEmail], ['Purser', undefined]);
});

test('OP-02 an invalid support address is refused', () => {
  for (const email of ['help', 'help@', 'Help <help@example.org>', 'a@b.test,c@d.test', 'a@b.test?bcc=c@d.test']) {
    assert.throws(() => readConfig({ ...SECRET, PURSER_SUPPORT_EMAIL: email }), /^Error: PURSER_SUPPORT_EMAIL must be/);
  }
});

const PRODUCTION = {
  PURSER_SECRET: '0123456789abcdefghijklmnopqrstuvwxyzABCDEF',
  PURSER_ENV: 'production',
  PURSER_CATALOGUE: 'catalogue.json',
  PURSER_PUBLIC_URL: 'https://pay.example.test',
};

test('CP-07 operators are bounded by default in production only', () => {
  assert.equal(readConfig(SECRET).operatorLimits, undefined);
  const usual = readConfig(PRODUCTION).operatorLimits;
  assert.deepEqual(usual?.ofRole.support, { act: 50_000_000n, day: 200_000_000n });
  assert.deepEqual([usual?.creditMost, usual?.secondPersonAbove], [1_000_000_000n, 500_000_000n]);
  const set = readConfig({
    ...PRODUCTION,
    PURSER_OPERATOR_LIMITS: 'finance=7/9 admin=none',
    PURSER_CREDIT_MAX_MICROS: 'none',
    PURSER_SECOND_PERSON_MICROS: '5',
  }).operatorLimits;
  assert.deepEqual(set?.ofRole, {
    ...usual?.ofRole,
    finance: { act: 7n, day: 9n },
    admin: { act: undefined, day: undefined },
  });
  assert.deepEqual([set?.creditMost, set?.secondPersonAbove], [undefined, 5n]);
});

test('CP-07 operator limits that make no sense are refused by name', () => {
  for (const text of [
    'support',
    'support=5',
    'viewer=1/2',
    'owner=1/2',
    'support=1/2 support=2/3',
    'support=-1/2',
    'admin=1/9999999999999999',
  ]) {
    assert.throws(
      () => readConfig({ ...SECRET, PURSER_OPERATOR_LIMITS: text }),
      /PURSER_OPERATOR_LIMITS must look/,
      text,
    );
  }
  for (const name of ['PURSER_CREDIT_MAX_MICROS', 'PURSER_SECOND_PERSON_MICROS']) {
    for (const text of ['1.5', '-1', 'all', '9999999999999999']) {
      assert.throws(() => readConfig({ ...SECRET, [name]: text }), new RegExp(`${name} must be`), text);
    }
  }
});
