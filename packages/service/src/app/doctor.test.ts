import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readConfig } from '#app/config.ts';
import { unknownSettings } from '#app/doctor.ts';

const GUIDE = new URL('../../../../docs/guides/operator/settings.md', import.meta.url);

test('OP-08 the doctor knows every setting and suggests misspelt ones', () => {
  const { settings } = readConfig({ PURSER_SECRET: 'x'.repeat(32) });
  const named = readFileSync(GUIDE, 'utf8').match(/\bPURSER_[A-Z_]+\b/g) ?? [];
  assert.ok(named.length > 40);
  assert.deepEqual(unknownSettings(named, settings), []);
  const typed = [
    'PURSER_PROXY_HOP',
    'PURSER_PUBLICURL',
    'PURSER_COLOUR',
    'PATH',
    'PURSER_OPERATOR_TOKEN',
    'PURSER_APP_ID',
    'PURSER_OWNER_EMAIL',
    'PURSER_OWNER_PASSWORD',
    'PURSER_WEBHOOK_SECRET',
  ];
  assert.deepEqual(unknownSettings(typed, settings), [
    'PURSER_PROXY_HOP (did you mean PURSER_PROXY_HOPS?)',
    'PURSER_PUBLICURL (did you mean PURSER_PUBLIC_URL?)',
    'PURSER_COLOUR',
  ]);
});
