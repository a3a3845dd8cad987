import assert from 'node:assert/strict';
import { appendFileSync, cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { completeLinks, findPackage, restoreLinks } from '../../../packages/service/src/embedded/files/binaries.ts';
import { checkDigests } from '../../../packages/service/src/embedded/files/digests.ts';
import { EmbeddedPostgresError } from '../../../packages/service/src/embedded/embedded-postgres.ts';
import { afterwards, isLinux, makeOpenDirectory } from '../../support/embedded-harness.ts';

/** What npm made of the server's package on this disk. */

const refusal = (pattern: RegExp) => (fault: unknown) => {
  assert.ok(fault instanceof EmbeddedPostgresError, String(fault));
  assert.match(fault.message, pattern);
  return true;
};

test('OP-15 several starts at once create missing library links', async (t) => {
  const root = makeOpenDirectory(t);
  mkdirSync(join(root, 'native', 'lib'), { recursive: true });
  const links = [{ source: 'native/lib/libx.so.1.2', target: 'native/lib/libx.so' }];
  writeFileSync(join(root, 'native', 'pg-symlinks.json'), JSON.stringify(links));
  await Promise.all([restoreLinks(root), restoreLinks(root), restoreLinks(root)]);
  assert.equal(await readlink(join(root, 'native', 'lib', 'libx.so')), 'libx.so.1.2');
  assert.ok((await lstat(join(root, 'native', 'lib', 'libx.so'))).isSymbolicLink());
});

test('OP-15 missing packages and failed links are explained', async (t) => {
  const root = makeOpenDirectory(t);
  mkdirSync(join(root, 'native'));
  writeFileSync(join(root, 'native', 'pg-symlinks.json'), '[{"source":"native/lib/a","target":"native/lib/b"}]');
  await assert.rejects(restoreLinks(root), refusal(/link .*native\/lib\/b is missing and cannot be created/));
  assert.throws(() => findPackage('@embedded-postgres/vms-vax'), refusal(/not installed.*DATABASE_URL.*15 or newer/));
});

test('OP-15 a read-only installation gets links beside the data', {
  skip: !isLinux,
}, async (t) => {
  const root = makeOpenDirectory(t);
  const links = join(makeOpenDirectory(t), 'postgres.lib');
  mkdirSync(join(root, 'native'));
  const listed = [{ source: 'native/lib/libx.so.1.2', target: 'native/lib/libx.so' }];
  writeFileSync(join(root, 'native', 'pg-symlinks.json'), JSON.stringify(listed));
  assert.deepEqual(await completeLinks(root, links), ['env', `LD_LIBRARY_PATH=${links}:${join(root, 'native/lib')}`]);
  assert.equal(await readlink(join(links, 'libx.so')), join(root, 'native/lib/libx.so.1.2'));

  const moved = `${root}-moved`;
  renameSync(root, moved);
  afterwards(t, () => rmSync(moved, { recursive: true, force: true }));
  await completeLinks(moved, links);
  assert.equal(await readlink(join(links, 'libx.so')), join(moved, 'native/lib/libx.so.1.2'));
});

test('OP-15 a server of another release is refused', {
  skip: !isLinux,
}, async (t) => {
  const platform = `${process.platform}-${process.arch}`;
  const release = findPackage(`@embedded-postgres/${platform}`);
  await checkDigests(release, platform);
  const root = makeOpenDirectory(t);
  cpSync(join(release, 'native/bin'), join(root, 'native/bin'), { recursive: true });
  appendFileSync(join(root, 'native/bin/initdb'), ' ');
  await assert.rejects(
    checkDigests(root, platform),
    refusal(/native\/bin\/initdb is not the file of its release\. Install Purser again, or set DATABASE_URL/),
  );
  const empty = makeOpenDirectory(t);
  await assert.rejects(checkDigests(empty, platform), refusal(/native\/bin\/initdb is missing\./));
});
