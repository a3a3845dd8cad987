import assert from 'node:assert/strict';
import { after, test, type TestContext } from 'node:test';
import { openCell } from '../../packages/service/src/app/cells/own-cell.ts';
import { addCell, assignSlots } from '../../packages/service/src/cells/topology/cells.ts';
import { copyDirectory } from '../../packages/service/src/cells/directory/copy.ts';
import { slotOf, slotsInWords } from '../../packages/service/src/kernel/values/slot.ts';
import { DIRECTORY, TABLES } from '../../packages/service/src/cells/topology/tables.ts';
import type { AppId, EndUserId } from '../../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { hasWalletsIn } from '../../packages/service/src/ledger/wallet/queries.ts';
import { createWallets } from '../../packages/service/src/ledger/wallet/wallet.ts';
import { runHere } from '../support/commands.ts';
import { createTestDatabase } from '../support/database.ts';
import { untilWaiting } from '../support/lock-wait.ts';
import { sql } from '../support/sql.ts';

/** The vectors were made by another program (`sha256sum`). */
const VECTORS = [
  ['app_0000000000000000000001', 'u', 3416],
  ['app_0000000000000000000001', 'somebody@example.test', 3830],
  ['app_ZZZZZZZZZZZZZZZZZZZZZZ', '!"#~', 116],
] as const;

const { owner, close } = await createTestDatabase();
after(close);

const APP = 'app_0000000000000000000001' as AppId;
const open = (user: string) =>
  createWallets(owner).open({ appId: APP, userId: user as EndUserId, currency: 'EUR', cap: undefined });
/** The first user of the app whose slot lies from `least` to `most`. */
function userIn(least: number, most: number, start = 0): EndUserId {
  for (let n = start; ; n += 1) {
    const user = `user-${n}` as EndUserId;
    const slot = slotOf(APP, user);
    if (slot >= least && slot <= most) return user;
  }
}

/** What the command prints. */
async function cells(t: TestContext, ...words: readonly string[]): Promise<string> {
  const { lines } = await runHere(t, ['cells', ...words], { owner });
  return lines.join('\n');
}

test('CE-03 every directory table can be copied', async () => {
  const rows = await sql<{ name: string; has_key: boolean }>(owner)`
    select n.nspname || '.' || c.relname as name, exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary) as has_key
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p') and not c.relispartition and n.nspname !~ '^(pg_|information_schema|public)'`;
  const classed = Object.entries(TABLES).flatMap(([schema, classes]) =>
    Object.values(classes).flatMap((tables) => tables.map((table) => `${schema}.${table}`)),
  );
  assert.deepEqual(classed.toSorted(), rows.map(({ name }) => name).toSorted());
  const keyed = new Set(rows.filter(({ has_key: hasKey }) => hasKey).map(({ name }) => name));
  assert.deepEqual(
    DIRECTORY.filter(({ name }) => !keyed.has(name)),
    [],
  );
  for (const { name, ownColumns, expiresBy } of DIRECTORY) {
    const columns = [...ownColumns, ...(expiresBy === null ? [] : [expiresBy])];
    await owner.query(`select ${columns.join(', ')} from ${name} limit 0`);
  }
});

test('CE-01 a user has the same slot in TypeScript and in SQL', async () => {
  for (const [app, user, slot] of VECTORS) assert.equal(slotOf(app as AppId, user as EndUserId), slot);
  const users = Array.from({ length: 2_000 }, (_, n) => `user-${n}` as EndUserId);
  const rows = await sql<{ slot: number }>(owner)`select cells.slot_of(${APP}, u.name) as slot
    from unnest(${users}::text[]) with ordinality u (name, n) order by n`;
  assert.deepEqual(
    rows.map(({ slot }) => slot),
    users.map((user) => slotOf(APP, user)),
  );
  const { rows: known } = await owner.query<{ slot: number }>(
    'select cells.slot_of(v.app, v.name) as slot from unnest($1::text[], $2::text[]) with ordinality v (app, name, n) order by n',
    [VECTORS.map(([app]) => app), VECTORS.map(([, user]) => user)],
  );
  assert.deepEqual(
    known.map(({ slot }) => slot),
    VECTORS.map(([, , slot]) => slot),
  );
});

test('CE-01 slots are written as ranges', () => {
  assert.equal(slotsInWords([0, 1, 2, 5, 7, 8]), '0-2, 5, 7-8');
  assert.equal(slotsInWords([]), '');
});

test('CE-01 a database without cells refuses a gateway naming one', async () => {
  await openCell(owner, undefined);
  await open('before-there-were-cells');
  await assert.rejects(openCell(owner, 'c1'), /There is no cell c1/);
});

test('CE-01 the first cell has all slots and wallets', async (t) => {
  await assert.rejects(cells(t, 'add', 'c1'), /Required option '--at <address>' not specified/);
  await assert.rejects(cells(t, 'add', 'C_1', '--at', 'http://10.0.1.5:8787'), /A cell's name is/);
  await assert.rejects(cells(t, 'add', 'c1', '--at', 'ftp://10.0.1.5'), /must be an http or https URL/);
  assert.equal(
    await cells(t, 'add', 'c1', '--at', 'http://10.0.1.5:8787/'),
    'There is a new cell c1, http://10.0.1.5:8787.',
  );
  assert.match(await cells(t, 'add', 'c1', '--at', 'http://10.0.1.5:8787'), /^There is already/);
  await cells(t, 'add', 'c2', '--at', 'http://10.0.1.9:8787');
  assert.match(await cells(t, 'add', 'c2', '--at', 'http://10.0.2.5:8787'), /^Another address/);
  await assert.rejects(cells(t, 'assign', '5', '--to', 'c2'), /No gateway has said yet/);
  await openCell(owner, 'c1');
  await openCell(owner, 'c1');
  assert.equal(
    await cells(t, 'list'),
    'c1 (this database), http://10.0.1.5:8787, 4096 slots: 0-4095\nc2, http://10.0.2.5:8787, no slots',
  );
  await assert.rejects(openCell(owner, 'c2'), /This database is the cell c1/);
  await assert.rejects(openCell(owner, undefined), /Set PURSER_CELL=c1/);
});

test('CE-01 slots with a wallet are never given away', async (t) => {
  const user = userIn(100, 199);
  await open(user);
  await assert.rejects(cells(t, 'assign', '100-199', '--to', 'c2'), /have wallets in c1/);
  await assert.rejects(cells(t, 'assign', '3000', '--to', 'c9'), /There is no cell c9/);
  await assert.rejects(cells(t, 'assign', '4096', '--to', 'c2'), /up to 4095/);
  assert.equal(await cells(t, 'assign', '3000-3999', '--to', 'c2'), 'Slots 3000-3999 belong to c2.');
  await assert.rejects(cells(t, 'assign', '2999-3000', '--to', 'c1'), /belong to c2/);
  assert.match(await cells(t, 'list'), /3096 slots: 0-2999, 4000-4095\nc2, .*, 1000 slots: 3000-3999$/);
  const other = userIn(3_000, 3_999);
  assert.equal(await cells(t, 'find', APP, other), `slot ${slotOf(APP, other)}, cell c2`);
});

test('CE-01 WA-01 a wallet is refused outside its user’s cell', async (t) => {
  const first = await createTestDatabase();
  t.after(first.close);
  for (const name of ['c1', 'c2']) await addCell(first.owner, name, 'http://10.0.1.5:8787');
  await openCell(first.owner, 'c1');
  await assignSlots(first.owner, { least: 0, most: 2_047, to: 'c2' }, hasWalletsIn);
  const openAt = (userId: EndUserId) =>
    createWallets(first.owner).open({ appId: APP, userId, currency: 'EUR', cap: undefined });
  await assert.rejects(openAt(userIn(0, 2_047)), /belongs to the cell c2/);
  assert.equal(await openAt(userIn(2_048, 4_095)), true);
});

test('CE-01 a wallet opened during a transfer keeps its slot or is refused', async () => {
  const early = userIn(500, 599);
  const client = await owner.connect();
  await client.query('begin');
  await client.query('select ledger.open_wallet($1, $2, $3, null)', [APP, early, 'EUR']);
  const assigning = assignSlots(owner, { least: 500, most: 599, to: 'c2' }, hasWalletsIn);
  const refused = assert.rejects(assigning, /have wallets in c1/);
  try {
    await untilWaiting({ owner }, 1);
  } finally {
    await client.query('commit');
    client.release();
  }
  await refused;
  const late = userIn(600, 699);
  let opening: Promise<unknown> | undefined;
  await assignSlots(owner, { least: 600, most: 699, to: 'c2' }, async (tx, least, most) => {
    const has = await hasWalletsIn(tx, least, most);
    opening = assert.rejects(open(late), /belongs to the cell c2/);
    return has;
  });
  await opening;
});

test('CE-01 the wallets of each cell have distinct ids', async (t) => {
  const second = await createTestDatabase();
  t.after(second.close);
  await addCell(second.owner, 'c1', 'http://10.0.1.5:8787');
  await addCell(second.owner, 'c2', 'http://10.0.2.5:8787');
  await createWallets(second.owner).open({ appId: APP, userId: 'early' as EndUserId, currency: 'EUR', cap: undefined });
  await assert.rejects(openCell(second.owner, 'c2'), /has wallets with ids of other cells/);
  await sql(second)`delete from ledger.wallets`;
  await openCell(second.owner, 'c2');
  await sql(second)`update cells.slots set cell = 'c2'`;
  await createWallets(second.owner).open({ appId: APP, userId: 'late' as EndUserId, currency: 'EUR', cap: undefined });
  const { rows } = await second.owner.query<{ wallet_id: bigint }>('select wallet_id from ledger.wallets');
  assert.deepEqual(rows, [{ wallet_id: 1_000_000_000_001n }]);
  const first = await owner.query<{ most: bigint }>('select max(wallet_id) as most from ledger.wallets');
  assert.ok(Number(first.rows[0]?.most) < 100);
});

const copy = (databaseUrl: string) => copyDirectory(owner, { name: 'c2', databaseUrl, log: createLog('silent') });

test('CE-03 several hosts need PostgreSQL to look for the leader', async () => {
  await assert.rejects(copy('postgres://u:secret@127.0.0.1:1,127.0.0.1:2/db'), (fault: Error) => {
    assert.match(fault.message, /Add \?target_session_attrs=read-write/);
    return !fault.message.includes('secret');
  });
  await assert.rejects(copy('postgres://u:p@127.0.0.1:1,127.0.0.1:2/db?target_session_attrs=read-write'), (fault) => {
    return !String(fault).includes('target_session_attrs');
  });
});
