import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { readProviderKeys } from '#app/settings/provider-keys.ts';
import { readSettings } from '#app/environment/settings-reader.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'purser-key-settings-'));
after(() => rmSync(folder, { recursive: true }));

function read(contents: unknown) {
  const file = path.join(folder, 'keys.json');
  writeFileSync(file, typeof contents === 'string' ? contents : JSON.stringify(contents));
  const settings = readSettings({ PURSER_PROVIDER_KEYS: file });
  return { keys: readProviderKeys(settings), faults: settings.faults() };
}

test('MO-11 key settings give each key’s source and hosts', () => {
  const keys = {
    a: { env: 'A_API_KEY', hosts: ['api.a.test'] },
    b: { file: '/run/secrets/b', hosts: ['*.b.test'] },
    c: { command: ['/usr/bin/vault', 'read'], seconds: 60, hosts: ['http://127.0.0.1:1'] },
  };
  assert.deepEqual(read(keys), { keys, faults: [] });
  assert.deepEqual(readProviderKeys(readSettings({})), {});
});

const FAULTY = [
  ['{', /the file is not valid JSON/],
  ['[]', /the file/],
  [{ a: { env: 'A_API_KEY' } }, /`a[`.]/],
  [{ a: { env: 'PURSER_SECRET', hosts: ['h'] } }, /`a.env` must not be a setting of the service/],
  [{ a: { env: 'A_API_KEY', file: '/x', hosts: ['h'] } }, /`a[`.]/],
  [{ a: { file: 'relative', hosts: ['h'] } }, /`a[`.]/],
  [{ a: { command: ['vault'], hosts: ['h'] } }, /`a[`.]/],
  [{ a: { command: '/usr/bin/vault read', hosts: ['h'] } }, /`a[`.]/],
  [{ a: { env: 'A_API_KEY', hosts: ['h/path'] } }, /`a[`.]/],
  [{ a: { env: 'A_API_KEY', hosts: ['user@h'] } }, /`a[`.]/],
  [{ a: { env: 'A_API_KEY', hosts: [] } }, /`a[`.]/],
  [{ a: { key: 'sk-secret', hosts: ['h'] } }, /`a[`.]/],
] as const;

test('MO-11 wrong key settings stop the start without quoting a value', () => {
  for (const [contents, words] of FAULTY) {
    const { faults } = read(contents);
    assert.match(faults.join('\n'), words, JSON.stringify(contents));
    assert.match(faults.join('\n'), /^PURSER_PROVIDER_KEYS: /);
    assert.doesNotMatch(faults.join('\n'), /sk-secret/);
  }
  const settings = readSettings({ PURSER_PROVIDER_KEYS: '/nowhere/keys.json' });
  readProviderKeys(settings);
  assert.deepEqual(settings.faults(), ['PURSER_PROVIDER_KEYS names a file that cannot be read.']);
});
