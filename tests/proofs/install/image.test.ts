import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { ROOT } from '../../../tools/toolchain.ts';
import { deployText } from '../../support/deploy-files.ts';

/** What the recipe of the image packs, from the files that its build gets. `npm run proofs -- container` builds the image itself. */

const BUILD = { commit: '0123456789ab', date: '2026-11-28' };
const folder = mkdtempSync(path.join(os.tmpdir(), 'purser-image-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** The last rules leave out what is installed. */
const filter = (from: string): boolean => !from.slice(ROOT.length).split(path.sep).includes('node_modules');

test('OP-17 an image built without history says its commit', () => {
  const kept = deployText('../.dockerignore').matchAll(/^!(.+)$/gm);
  for (const [, name = ''] of kept) {
    cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true, filter });
  }
  assert.ok(!existsSync(path.join(folder, '.git')));
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  const [, line = ''] = /^ARG BUILD=\nRUN (.+)$/m.exec(deployText('container/Dockerfile')) ?? [];
  const run = (script: string, env: Readonly<Record<string, string>> = {}) =>
    spawnSync('/bin/sh', ['-c', script], { cwd: folder, encoding: 'utf8', env: { PATH: process.env['PATH'], ...env } });
  const packed = run(line, { BUILD: `${BUILD.commit} ${BUILD.date}` });
  assert.equal(packed.status, 0, packed.stderr);
  const [tarball = ''] = globSync('.dist/purser-*.tgz', { cwd: folder });
  mkdirSync(path.join(folder, 'image'));
  assert.equal(run(`tar -xzf ${tarball} -C image --strip-components=1`).status, 0);
  const { stdout } = run('image/bin/purser --version');
  assert.match(stdout, new RegExp(`^\\S+ \\(${BUILD.commit}, ${BUILD.date}\\)\n$`));
  assert.ok(existsSync(path.join(folder, 'image/deploy/systemd/purserctl')), '`purser setup` copies it');
});
