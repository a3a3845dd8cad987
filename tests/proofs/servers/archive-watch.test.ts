import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { selectArchiver, switchLog } from '../../../packages/service/src/backup/queries.ts';
import { printRestoredCheck } from '../../../packages/service/src/cli/machine/restored-check.ts';
import { selectDatabaseHealth, selectServer } from '../../../packages/service/src/db/health/queries.ts';
import { judgeArchive } from '../../../packages/service/src/doctor/diagnosis/archive.ts';
import { TEST_SECRET } from '../../support/keys.ts';
import { startTunedServer } from '../../support/tuned-server.ts';
import { waitUntil } from '../../support/wait-until.ts';

type Stage = Awaited<ReturnType<typeof startKeeping>>;

/** A server that keeps its log by this command, which may name a file that only its owner may read. */
async function startKeeping(t: TestContext, commandOf: (file: string) => string) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'purser-keep-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  const file = path.join(folder, 'keep');
  const settings = { archive_mode: 'on', archive_command: commandOf(file) };
  const server = await startTunedServer({ settings, isThrowaway: true });
  t.after(() => server.stop());
  const { owner, close } = await server.addDatabase('kept');
  t.after(close);
  await owner.query('create role poor');
  const state = path.join(server.directory, 'pg_wal', 'archive_status');
  return {
    file,
    owner,
    /** Lets all parts that wait do so for ten minutes. */
    age: (): void => {
      const then = Date.now() / 1_000 - 600;
      for (const name of readdirSync(state)) {
        if (name.endsWith('.ready')) utimesSync(path.join(state, name), then, then);
      }
    },
    /** What the owner of a database sees who may not look at the parts. */
    unseen: async () => {
      await owner.query('alter function db.archive_backlog owner to poor');
      const row = await selectServer(owner);
      await owner.query('alter function db.archive_backlog owner to current_user');
      return row;
    },
  };
}

/** The doctor, the metrics and the check of a database find the parts that wait, which the server counts as no failure. */
async function foundWaiting(t: TestContext, { owner, age }: Stage): Promise<void> {
  await switchLog(owner);
  await waitUntil('a part waits', async () => ((await selectServer(owner)).waiting_parts ?? 0) > 0);
  age();
  const row = await selectServer(owner);
  assert.equal(row.archive_fails, false, 'the server counts no failure');
  const found = judgeArchive(row);
  assert.equal(found?.level, 'bad');
  assert.match(found.what, /finished parts of the log wait to be kept in the archive, the oldest for 10 minutes/);
  const { archive_parts: parts, archive_seconds: seconds } = await selectDatabaseHealth(owner);
  assert.ok((parts ?? 0) > 0 && (seconds ?? 0) >= 600, `${parts} parts, ${seconds} s`);
  const said = t.mock.method(console, 'log', () => undefined);
  const status = await printRestoredCheck(owner, { secret: Buffer.from(TEST_SECRET) });
  said.mock.restore();
  assert.equal(status, 1);
  assert.ok(said.mock.calls.some(({ arguments: [line] }) => /BAD .*wait to be kept in the archive/.test(String(line))));
}

test('OP-08 an archive whose command is not found is found', async (t) => {
  const stage = await startKeeping(t, (file) => `${file} %p`);
  await foundWaiting(t, stage);
  const row = await stage.unseen();
  assert.equal(row.waiting_parts, null);
  assert.equal(judgeArchive(row), undefined, 'the server has just started');
  const later = judgeArchive({ ...row, archived_seconds: row.archived_seconds + 300 });
  assert.deepEqual([later?.level, /grant pg_monitor/.test(later?.remedy ?? '')], ['warn', true]);
});

test('OP-08 an archive whose command may not be run is found', async (t) => {
  const stage = await startKeeping(t, (file) => {
    writeFileSync(file, 'exit 0', { mode: 0o644 });
    return `${file} %p`;
  });
  await foundWaiting(t, stage);
});

test('OP-08 an archive whose command is killed is found', async (t) => {
  const stage = await startKeeping(t, (file) => `[ ! -e ${file} ] || kill -9 $$`);
  const { file, owner } = stage;
  const part = await switchLog(owner);
  await waitUntil('the part is kept', async () => (await selectArchiver(owner)).kept === part);
  for (const row of [await selectServer(owner), await stage.unseen()]) {
    assert.deepEqual([judgeArchive(row), row.waiting_parts, row.waiting_seconds], [undefined, 0, 0]);
  }
  writeFileSync(file, '', { mode: 0o644 });
  for (let more = 0; more < 2; more += 1) await switchLog(owner);
  await foundWaiting(t, stage);
  const row = await stage.unseen();
  assert.equal(row.waiting_parts, 3);
  assert.equal(judgeArchive({ ...row, waiting_seconds: (row.waiting_seconds ?? 0) + 300 })?.level, 'bad');
});
