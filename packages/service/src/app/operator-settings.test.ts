import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '#app/config.ts';

const SECRET = { PURSER_SECRET: 's'.repeat(32) };

test('the operator name and the support address are as set, with defaults `Purser` and none', () => {
  const plain = readConfig(SECRET);
  assert.deepEqual([plain.operatorName, plain.supportEmail], ['Purser', undefined]);
  const set = readConfig({ ...SECRET, PURSER_OPERATOR_NAME: 'Ä & <b>', PURSER_SUPPORT_EMAIL: 'help@example.org' });
  assert.deepEqual([set.operatorName, set.supportEmail], ['Ä & <b>', 'help@example.org']);
  const empty = readConfig({ ...SECRET, PURSER_OPERATOR_NAME: '', PURSER_SUPPORT_EMAIL: '' });
  assert.deepEqual([empty.operatorName, empty.supportEmail], ['Purser', undefined]);
});

test('an invalid support address is refused', () => {
  for (const email of ['help', 'help@', 'Help <help@example.org>', 'a@b.test,c@d.test', 'a@b.test?bcc=c@d.test']) {
    assert.throws(() => readConfig({ ...SECRET, PURSER_SUPPORT_EMAIL: email }), /^Error: PURSER_SUPPORT_EMAIL must be/);
  }
});
