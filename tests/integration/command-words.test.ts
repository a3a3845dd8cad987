import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../packages/service/src/cli/main.ts', import.meta.url));

test('OP-01 help and unknown commands do nothing', (t) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'purser-words-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const data = path.join(folder, 'data');
  const purser = (environment: string, ...words: readonly string[]) => {
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const env = { HOME: folder, PATH, NODE_COMPILE_CACHE, PURSER_DATA_DIR: data, PURSER_ENV: environment };
    return spawnSync(process.execPath, [PROGRAM, ...words], { env, encoding: 'utf8' });
  };
  // Production without a setting: nothing else could be said than what is missing.
  const unknown = purser('production', 'frobnicate');
  assert.equal(unknown.status, 2, unknown.stderr);
  assert.ok(unknown.stderr.startsWith("Unknown command 'frobnicate'."), unknown.stderr);
  const help = purser('production', 'catalogue', 'import', '--help');
  assert.equal(help.status, 0, help.stderr);
  assert.match(help.stdout, /catalogue import \[options\] <file>/);
  assert.equal(existsSync(data), false);
  // In development, reading the settings would write a secret there.
  const wrong = purser('development', 'catalogue', 'import');
  assert.equal(wrong.status, 2, wrong.stderr);
  assert.ok(wrong.stderr.startsWith("Missing required argument 'file'."), wrong.stderr);
  assert.equal(existsSync(data), false);
});
