import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { BackupError } from '#backup/backup-error.ts';
import { beginBackup, listBackups, logPartOf, pruneBackups, readManifest } from '#backup/folder.ts';
import { copySettlements } from '#backup/settlements.ts';
import { unpackTar } from '#backup/tar.ts';
import { onLatestTimeline, readHistories } from '#backup/timelines.ts';

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

test('OP-09 a truncated backup never counts as whole', async (t) => {
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

test('OP-09 pruning backups keeps the log the oldest needs', async (t) => {
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

test('OP-09 pruning backups keeps an earlier restore’s log', async (t) => {
  const backups = folderOf(t);
  for (const [at, lsn] of [
    [10, '0/2000028'],
    [11, '0/9000028'],
    [12, '0/5000028'],
  ] as const)
    await make(backups, at, lsn);
  const wal = path.join(backups, SYSTEM, 'wal');
  mkdirSync(wal);
  for (const part of [4, 5, 9]) writeFileSync(path.join(wal, `00000002000000000000000${part}.gz`), '');
  await pruneBackups(backups, SYSTEM, 2);
  assert.deepEqual(
    readdirSync(wal),
    [5, 9].map((part) => `00000002000000000000000${part}.gz`),
  );
});

test('OP-09 a restore follows the latest timeline from a matching backup', async (t) => {
  const wal = folderOf(t);
  const history = (name: string, text: string) =>
    writeFileSync(path.join(wal, name), name.endsWith('.gz') ? gzipSync(text) : text);
  const backups = (
    [
      [1, '0/2000120'],
      [1, '0/5000120'], // After the moment that the first restore went back to.
      [2, '0/6000000'], // The second restore went back to this very place.
      [2, '0/6000001'],
      [3, '0/7000000'],
    ] as const
  ).map(([timeline, endLsn]) => ({
    name: `${timeline} ${endLsn}`,
    folder: '',
    record: { ...RECORD, format: 1 as const, timeline, endLsn },
  }));
  const namesOn = async (some: typeof backups) => {
    const { timeline, backups: leading } = onLatestTimeline(some, await readHistories([wal, path.join(wal, 'none')]));
    return [timeline, ...leading.map(({ name }) => name)];
  };
  assert.deepEqual(await namesOn(backups.slice(0, 2)), [1, '1 0/2000120', '1 0/5000120']);
  assert.deepEqual(await namesOn([]), [1]);
  history('00000002.history.gz', '1\t0/417EE98\tbefore 2026-11-23 17:36:48.045379+00\n');
  assert.deepEqual(await namesOn(backups.slice(0, 2)), [2, '1 0/2000120']);
  history('00000003.history', '1\t0/417EE98\tno recovery target specified\n\n2\t0/6000000\tbefore\n');
  assert.deepEqual(await namesOn(backups), [3, '1 0/2000120', '2 0/6000000', '3 0/7000000']);
  writeFileSync(path.join(wal, '00000004.history.gz'), 'no gzip');
  await assert.rejects(namesOn(backups), BackupError);
});

test('OP-09 WA-17 vanishing files do not stop copying, and restores overwrite nothing', async (t) => {
  const [from, to] = [folderOf(t), path.join(folderOf(t), 'settlements')];
  symlinkSync(path.join(from, 'gone'), path.join(from, 'a.jsonl')); // It is listed, and is gone when it is read.
  writeFileSync(path.join(from, 'b.jsonl'), 'one\n', { mode: 0o600 });
  await copySettlements(from, to, 'onto');
  writeFileSync(path.join(from, 'b.jsonl'), 'one\ntwo\n');
  await copySettlements(from, to, 'onto');
  assert.deepEqual(readdirSync(to), ['b.jsonl']);
  assert.equal(readFileSync(path.join(to, 'b.jsonl'), 'utf8'), 'one\ntwo\n');
  assert.deepEqual([statSync(to).mode & 0o777, statSync(path.join(to, 'b.jsonl')).mode & 0o777], [0o700, 0o600]);
  writeFileSync(path.join(to, 'b.jsonl'), 'one\ntwo\nthree\n');
  await copySettlements(from, to, 'beside');
  assert.equal(readFileSync(path.join(to, 'b.jsonl'), 'utf8'), 'one\ntwo\nthree\n');
  await copySettlements(path.join(from, 'never kept any'), path.join(to, 'none'), 'onto');
  assert.deepEqual(readdirSync(to), ['b.jsonl']);
});

test('OP-09 a backup’s first log segment has PostgreSQL’s name', () => {
  assert.equal(logPartOf({ timeline: 1, startLsn: '0/2000028' }), '000000010000000000000002');
  assert.equal(logPartOf({ timeline: 27, startLsn: 'A1/FF000028' }), '0000001B000000A1000000FF');
});

test('OP-09 a manifest changed since the backup is refused', async (t) => {
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

test('OP-09 an archive is unpacked whole inside its folder or refused', async (t) => {
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
