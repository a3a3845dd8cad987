import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { ConfigError, readConfig } from '#app/config.ts';

const directory = mkdtempSync(path.join(os.tmpdir(), 'purser-config-'));
after(() => rmSync(directory, { recursive: true, force: true }));

function read(environment: Readonly<Record<string, string>>) {
  return readConfig({ PURSER_DATA_DIR: directory, ...environment });
}

test('a failpoint is read in development, and there is none unless one is set', () => {
  assert.equal(read({}).failpoint, undefined);
  const { failpoint } = read({ PURSER_FAILPOINT: 'stream.settled:3:stop' });
  assert.deepEqual(failpoint, { name: 'stream.settled', hit: 3, act: 'stop' });
});

test('a failpoint that does not exist, or does nothing known, is refused', () => {
  for (const value of ['nowhere:1:kill', 'chat.arrived:0:kill', 'chat.arrived:1:explode', 'chat.arrived']) {
    assert.throws(() => read({ PURSER_FAILPOINT: value }), /PURSER_FAILPOINT must look like/);
  }
});

test('production refuses a failpoint', () => {
  const production = { PURSER_ENV: 'production', PURSER_SECRET: 's'.repeat(32), PURSER_CATALOGUE: 'catalogue.json' };
  assert.equal(read(production).failpoint, undefined);
  assert.throws(() => read({ ...production, PURSER_FAILPOINT: 'chat.arrived:1:kill' }), ConfigError);
});
