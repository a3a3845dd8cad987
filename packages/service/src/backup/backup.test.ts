import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { BackupError } from '#backup/backup-error.ts';
import { beginBackup, listBackups, logPartOf, pruneBackups, readManifest } from '#backup/folder.ts';
import { unpackTar } from '#backup/tar.ts';

const SYSTEM = '7711372344514825996';
const RECORD = {
  purser: '0.1.0',
  postgres: '18.4',
  schema: 65,
  systemId: SYSTEM,
  databaseId: '00000000-0000-4000-8000-000000000001',
  secretFingerprint: null,
  startedAt: '2026-11-23T14:00:00.000Z',
  endedAt: '2026-11-23T14:00:01.000Z',
  timeline: 1,
  startLsn: '0/2000028',
  endLsn: '0/2000120',
  bytes: 1,
  manifestDigest: createHash('sha256').update('{}').digest('hex'),
};

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'purser-backups-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const make = async (backups: string, hour: number, startLsn = RECORD.startLsn) => {
  const draft = await beginBackup(backups, SYSTEM, Date.now());
  return draft.finish({ ...RECORD, startLsn, endedAt: `2026-11-23T${hour}:00:01.000Z` });
};

test('CP-05 a backup that was cut off is never taken for a whole one, and is removed a day later', async (t) => {
  const backups = folderOf(t);
  const cut = await beginBackup(backups, SYSTEM, Date.now());
  writeFileSync(path.join(cut.folder, 'base.tar.gz'), 'half of it');
  assert.deepEqual(await listBackups(backups, SYSTEM), []);
  const bare = path.join(backups, SYSTEM, 'base', '20261123T120000Z');
  mkdirSync(bare); // A removal that was cut off.
  const whole = await make(backups, 14);
  assert.deepEqual(
    (await listBackups(backups, SYSTEM)).map(({ name }) => name),
    [whole.name],
  );
  const yesterday = Date.now() / 1_000 - 90_000;
  utimesSync(cut.folder, yesterday, yesterday);
  await beginBackup(backups, SYSTEM, Date.now());
  assert.ok(!readdirSync(path.dirname(cut.folder)).includes(path.basename(cut.folder)));
});

test('CP-05 removing old backups keeps the log that the oldest one left needs', async (t) => {
  const backups = folderOf(t);
  for (const [at, lsn] of [
    [10, '0/2000028'],
    [11, '0/5000028'],
    [12, '1/F0000028'],
  ] as const)
    await make(backups, at, lsn);
  const wal = path.join(backups, SYSTEM, 'wal');
  mkdirSync(wal);
  const parts = [2, 4, 5, 6].map((part) => `00000001000000000000000${part}.gz`);
  const others = ['00000001000000000000000A.00000028.backup.gz', '00000002.history.gz', 'of somebody else'];
  for (const part of [...parts, ...others]) writeFileSync(path.join(wal, part), '');
  const removed = await pruneBackups(backups, SYSTEM, 2);
  assert.deepEqual(removed, ['20261123T100001Z', ...parts.slice(0, 2)]);
  assert.deepEqual(readdirSync(wal).toSorted(), [...parts.slice(2), ...others].toSorted());
  assert.deepEqual(
    (await listBackups(backups, SYSTEM)).map(({ name }) => name),
    ['20261123T110001Z', '20261123T120001Z'],
  );
  assert.deepEqual(await pruneBackups(backups, SYSTEM, 2), []);
});

test('CP-05 the part of the log in which a backup begins has the name that PostgreSQL gives it', () => {
  assert.equal(logPartOf({ timeline: 1, startLsn: '0/2000028' }), '000000010000000000000002');
  assert.equal(logPartOf({ timeline: 27, startLsn: 'A1/FF000028' }), '0000001B000000A1000000FF');
});

test('CP-05 a manifest that was changed since the backup is refused', async (t) => {
  const backup = await make(folderOf(t), 14);
  const manifest = path.join(backup.folder, 'backup_manifest');
  writeFileSync(manifest, '{"Files":[]}');
  await assert.rejects(readManifest(backup), BackupError);
});

/** A tar with one entry. */
function tarOf(name: string, content: string, type = '0'): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write(type, 156);
  const body = Buffer.alloc(Math.ceil(content.length / 512) * 512);
  body.write(content);
  return Buffer.concat([header, body, Buffer.alloc(1_024)]);
}

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test('CP-05 an archive is unpacked whole or refused, and no entry of it leaves its folder', async (t) => {
  const folder = folderOf(t);
  const unpacked = await unpackTar(inPieces(tarOf('base/1/2600', 'rows of a table'), 7), folder);
  assert.equal(readFileSync(path.join(folder, 'base/1/2600'), 'utf8'), 'rows of a table');
  assert.deepEqual(unpacked.get('base/1/2600'), {
    size: 15,
    digest: createHash('sha256').update('rows of a table').digest('hex'),
  });
  for (const bad of [
    tarOf('../outside', 'x'),
    tarOf('/etc/outside', 'x'),
    tarOf('a/../../outside', 'x'),
    tarOf('link', '', '2'),
    tarOf('cut', 'rows of a table').subarray(0, 520),
    tarOf('cut', 'rows of a table').subarray(0, 1_024),
  ]) {
    await assert.rejects(unpackTar(inPieces(bad, 512), folderOf(t)), BackupError);
  }
});
