import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPool, type Pool } from '../../packages/service/src/db/pool/pool.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';
import { rewrite } from '../support/rewrite.ts';
import { sql } from '../support/sql.ts';

const DENIED = { code: '42501' };
const CHECK_VIOLATED = { code: '23514' };

let ledger: LedgerDatabase;
let owner: Pool;
let sandbox: Pool;

before(async () => {
  ledger = await createLedgerDatabase();
  owner = ledger.database.owner;
  sandbox = createPool({
    url: ledger.database.url,
    role: 'sandbox',
    connectionsMax: 1,
    log: createLog('silent'),
  });
  await ledger.open('user', 100);
  const request = holdOf('user', 50);
  await ledger.reserve([request, holdOf('user', 10)]);
  await ledger.settle([endOf(request, 20)]);
});

after(async () => {
  await sandbox.end();
  await ledger.close();
});

for (const [what, text] of [
  ['changed', 'update ledger.journal set amount_micros = amount_micros'],
  ['removed', 'delete from ledger.journal'],
  ['truncated', 'truncate ledger.journal'],
  ['truncated along with other tables', 'truncate ledger.wallets, ledger.holds, ledger.journal'],
] as const) {
  test(`WA-09 entries cannot be ${what}, even by the tables’ owner`, async () => {
    await assert.rejects(owner.query(text), /never changed or removed/);
    assert.deepEqual(await ledger.differences(), []);
  });
}

for (const [what, text] of [
  ['changed', 'update usage.calls set charged_micros = charged_micros'],
  ['removed', 'delete from usage.calls'],
  ['truncated', 'truncate usage.calls'],
] as const) {
  test(`WA-09 receipts cannot be ${what}, even by the tables’ owner`, async () => {
    await assert.rejects(owner.query(text), /never changed or removed/);
    assert.deepEqual(await ledger.differences(), []);
  });
}

test('WA-09 the gateway may not write ledger or usage tables', async () => {
  const rows = await sql<{ name: string; may: string }>(owner)`select c.oid::regclass::text as name, p.privilege as may
    from pg_class c cross join unnest(array['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER', 'REFERENCES'])
      as p (privilege)
    where c.relnamespace in ('ledger'::regnamespace, 'usage'::regnamespace) and c.relkind in ('r', 'p', 'v')
      and (has_table_privilege('purser_live', c.oid, p.privilege)
        or p.privilege in ('INSERT', 'UPDATE') and has_any_column_privilege('purser_live', c.oid, p.privilege))`;
  assert.deepEqual(rows, []);
});

for (const [table, column] of [
  ['ledger.wallets', 'balance_micros'],
  ['ledger.holds', 'amount_micros'],
  ['ledger.journal', 'amount_micros'],
  ['usage.calls', 'charged_micros'],
] as const) {
  test(`WA-09 the gateway may only read ${table}`, async () => {
    assert.ok((await ledger.live.query(`select * from ${table}`)).rows.length > 0);
    await assert.rejects(ledger.live.query(`update ${table} set ${column} = ${column}`), DENIED);
    await assert.rejects(ledger.live.query(`delete from ${table}`), DENIED);
    await assert.rejects(ledger.live.query(`insert into ${table} (${column}) values (1)`), DENIED);
    await assert.rejects(ledger.live.query(`truncate ${table}`), DENIED);
  });
}

test('WA-09 the gateway may only read the entries view', async () => {
  const { rows } = await ledger.live.query('select kind from ledger.entries order by seq');
  assert.deepEqual(rows, [{ kind: 'contract_credit' }, { kind: 'charge' }]);
  for (const text of ['update ledger.entries set seq = 1', 'delete from ledger.entries']) {
    await assert.rejects(ledger.live.query(text), /cannot (update|delete from) view/);
  }
});

test('WA-09 the gateway creates nothing in the money schemas', async () => {
  for (const schema of ['ledger', 'usage', 'sandbox', 'db', 'public']) {
    await assert.rejects(ledger.live.query(`create table ${schema}.own (id int)`), DENIED, schema);
  }
});

/** The tables and views of the given schemas. */
async function tablesOf(schemas: string): Promise<readonly string[]> {
  const rows = await sql<{ name: string }>(owner)`select c.oid::regclass::text as name from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname ~ ${schemas} and c.relkind in ('r', 'p', 'v', 'm')`;
  return rows.map(({ name }) => name);
}

/** The functions of a schema that a role may call, without triggers, which nobody calls. */
async function callableBy(role: string, schemas: string): Promise<readonly string[]> {
  const { rows } = await owner.query<{ name: string }>(
    `select p.oid::regprocedure::text as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
     where n.nspname ~ $2 and p.prorettype <> 'trigger'::regtype
       and has_function_privilege($1, p.oid, 'EXECUTE') and has_schema_privilege($1, n.oid, 'USAGE')`,
    [role, schemas],
  );
  return rows.map(({ name }) => name);
}

/** Asserts that this role can neither read, write nor empty any of the tables. */
async function assertClosed(pool: Pool, table: string): Promise<void> {
  for (const text of [
    `select from ${table}`,
    `insert into ${table} default values`,
    `delete from ${table}`,
    `truncate ${table}`,
  ]) {
    await assert.rejects(pool.query(text), DENIED, text);
  }
}

const OURS = '^(accounts|audit|mail|catalogue|limits|attempts|ledger|usage|sandbox)$';

test('SB-03 the sandbox role can read no real-money table', async () => {
  const tables = await tablesOf(OURS);
  assert.ok(tables.length >= 20, String(tables.length));
  for (const table of tables) await assertClosed(sandbox, table);
});

test('SB-03 the sandbox role can call no real-money function', async () => {
  assert.deepEqual(await callableBy('purser_sandbox', OURS.replace('|sandbox', '')), []);
  assert.ok((await callableBy('purser_sandbox', '^sandbox$')).length >= 6);
  await assert.rejects(sandbox.query('select ledger.reap(0)'), DENIED);
  await assert.rejects(sandbox.query('select * from ledger.differences()'), DENIED);
});

test('SB-03 the real-money role cannot touch the sandbox', async () => {
  const tables = await tablesOf('^sandbox$');
  assert.ok(tables.length >= 2);
  for (const table of tables) await assertClosed(ledger.live, table);
  assert.deepEqual(await callableBy('purser_live', '^sandbox$'), []);
  await assert.rejects(ledger.live.query('select sandbox.reap(0)'), DENIED);
});

test('SB-03 no role may act as the other', async () => {
  const rows = await sql(owner)`
    select pg_has_role('purser_live', 'purser_sandbox', 'MEMBER') or pg_has_role('purser_sandbox', 'purser_live', 'MEMBER')
    as "isMember", (select bool_or(rolsuper or rolbypassrls or rolcanlogin or rolcreaterole or rolcreatedb) from pg_roles
      where rolname in ('purser_live', 'purser_sandbox')) as "isAbove",
    exists (select from pg_class where relowner in ('purser_live'::regrole, 'purser_sandbox'::regrole)) as "isOwner"`;
  assert.deepEqual(rows, [{ isMember: false, isAbove: false, isOwner: false }]);
});

test('WA-09 functions with owner rights fix their search path', async () => {
  const rows = await sql(owner)`select p.oid::regprocedure::text as name from pg_proc p
    where p.prosecdef and not exists (select from unnest(p.proconfig) c where c like 'search_path=%')`;
  assert.deepEqual(rows, []);
});

test('WA-06 impossible balances, holds and counts cannot be written', async () => {
  for (const assignment of [
    'balance_micros = held_micros - 1',
    'held_micros = balance_micros + 1',
    'is_clawed = true',
    'shortfall_micros = 1',
    'balance_micros = -1, held_micros = 0, is_clawed = true',
    'balance_micros = -1, is_clawed = true',
    'held_micros = -1',
    'open_streams = -1',
    'cap_held_micros = -1',
    'cap_spent_micros = -1',
    'shortfall_micros = -1',
    'cap_micros = -1',
    'balance_micros = 9007199254740992',
    'cap_micros = 9007199254740992',
  ]) {
    await assert.rejects(ledger.setWallet('user', assignment), CHECK_VIOLATED, assignment);
  }
  assert.deepEqual(await ledger.differences(), []);
});

test('SB-03 play money obeys the same rules', async () => {
  await sql(owner)`insert into sandbox.wallets (app_id, user_id, balance_micros) values ('app', 'user', 10)`;
  for (const assignment of ['balance_micros = -1', 'held_micros = 11', 'held_micros = -1', 'open_streams = -1']) {
    await assert.rejects(owner.query(`update sandbox.wallets set ${assignment}`), CHECK_VIOLATED, assignment);
  }
});

test('WA-07 a receipt above its hold cannot be written', async () => {
  for (const assignment of ['charged_micros = held_micros + 1', `outcome = 'failed'`, `outcome = 'expired'`]) {
    await assert.rejects(rewrite(ledger.database, `update usage.calls set ${assignment}`), CHECK_VIOLATED, assignment);
  }
});

test('WA-09 an entry that moves nothing cannot be written', async () => {
  for (const [amount, debit, after] of [
    [0, 'wallet', 0],
    [-5, 'wallet', 5],
    [5, 'earned', 5],
    [5, 'wallet', -5],
  ] as const) {
    const written = owner.query(
      `insert into ledger.journal (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
       select wallet_id, entry_seq + 1, 'charge', 'x', $2, 'earned', $1, $3 from ledger.wallets`,
      [amount, debit, after],
    );
    await assert.rejects(written, CHECK_VIOLATED, `${amount} of ${debit}`);
  }
});

test('WA-09 receipts with half an entry cannot be written', async () => {
  for (const assignment of [
    'seq = null',
    'balance_after_micros = null',
    'seq = 0',
    'charged_micros = 0',
    'balance_after_micros = -1',
  ]) {
    await assert.rejects(rewrite(ledger.database, `update usage.calls set ${assignment}`), CHECK_VIOLATED, assignment);
  }
});

test('WA-09 a movement’s second entry cannot be written', async () => {
  for (const [seq, cause] of [
    ['seq + 1', 'cause'],
    ['seq', `'other'`],
  ] as const) {
    const again = owner.query(
      `insert into ledger.journal (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
       select wallet_id, ${seq}, kind, ${cause}, debit, credit, amount_micros, balance_after_micros from ledger.journal`,
    );
    await assert.rejects(again, { code: '23505' }, cause);
  }
});

test('WA-09 a call’s second receipt cannot be written', async () => {
  for (const [callId, seq] of [
    ['call_id', 'seq + 1'],
    ['uuidv7()', 'seq'], // Of the same month: for two, see the check.
  ] as const) {
    const again = owner.query(
      `insert into usage.calls (call_id, wallet_id, month, outcome, is_estimated, prompt_tokens, cached_tokens,
         completion_tokens, reasoning_tokens, held_micros, charged_micros, seq, balance_after_micros)
       select ${callId}, wallet_id, month, outcome, is_estimated, 0, 0, 0, 0, held_micros, charged_micros, ${seq},
         balance_after_micros
       from usage.calls`,
    );
    await assert.rejects(again, { code: '23505' }, seq);
  }
});
