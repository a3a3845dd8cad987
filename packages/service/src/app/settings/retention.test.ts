import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRetention } from '#app/settings/retention.ts';
import { readSettings } from '#app/environment/settings-reader.ts';

test('CP-12 retention has defaults and accepts days or 0 for ever', () => {
  assert.deepEqual(readRetention(readSettings({})), { mailDays: 7, signInDays: 90, webhookDays: 30 });
  const set = readSettings({ PURSER_MAIL_DAYS: '0', PURSER_SIGN_IN_DAYS: '3650', PURSER_WEBHOOK_DAYS: '1' });
  assert.deepEqual(readRetention(set), { mailDays: 0, signInDays: 3_650, webhookDays: 1 });
  assert.deepEqual(set.faults(), []);
  for (const odd of ['-1', '3651', '1.5', 'never', ' 7']) {
    const settings = readSettings({ PURSER_MAIL_DAYS: odd, PURSER_SIGN_IN_DAYS: odd, PURSER_WEBHOOK_DAYS: odd });
    readRetention(settings);
    assert.equal(settings.faults().length, 3, odd);
  }
});
