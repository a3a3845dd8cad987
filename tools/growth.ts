// What a call costs PostgreSQL in a database with years behind it, beside an empty one: `node tools/growth.ts`.
//
// Both databases are on one server and take turns, window by window. The figure is the processor time of the connection that
// runs the statements, by the kernel's own count, so other work on the machine hardly changes it. Linux only.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { migrate } from '../packages/service/src/db/schema/migrate.ts';
import { createPool, type Pool } from '../packages/service/src/db/pool/pool.ts';
import { insertInstance } from '../packages/service/src/db/processes/queries.ts';
import { startEmbeddedPostgres } from '../packages/service/src/embedded/embedded-postgres.ts';
import { type AppId, type EndUserId, newCallId } from '../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../packages/service/src/kernel/log.ts';
import { micros } from '../packages/service/src/kernel/values/micros.ts';
import { checkChanges, checkLedger } from '../packages/service/src/ledger/check/check.ts';
import { makeMonth } from '../packages/service/src/ledger/months/queries.ts';
import { takeTurn } from '../packages/service/src/ledger/turn/queries.ts';
import { rollUpAll } from '../packages/service/src/calls/roll-up/roll-up.ts';

const { values } = parseArgs({
  options: {
    receipts: { type: 'string', default: '10000000' },
    wallets: { type: 'string', default: '1000000' },
    windows: { type: 'string', default: '12' },
    check: { type: 'boolean', default: false },
  },
});
const RECEIPTS = Number(values.receipts);
const WALLETS = Number(values.wallets);
const WINDOWS = Number(values.windows);
/** This month and those before it, as many as are kept at hand. */
const MONTHS = 14;
/** Users who call while it is measured. In the grown database they lie among all others. */
const ACTIVE = 1_000;
const APP = 'app_grown' as AppId;
const CREDIT = 1_000_000_000;
const CALLS_A_WINDOW = 640;
const TURN = 64;
const LEASE_MS = 86_400_000;

/** Months as a service leaves them that has run for so long. */
const OLD_MONTHS = `do $$
declare
  this constant date := db.current_month();
  first constant date := (this - interval '${MONTHS - 1} months')::date;
begin
  execute format('drop table %s', ledger.receipts_of(this));
  execute format('create table %s partition of usage.calls for values from (minvalue) to (%L)', ledger.receipts_of(first),
    ledger.first_call((first + interval '1 month')::date));
  execute format('create unique index on %s (wallet_id, seq) where seq is not null', ledger.receipts_of(first));
  delete from ledger.months;
  insert into ledger.months (month, before_call) values (first, ledger.first_call((first + interval '1 month')::date));
end $$`;

/**
 * Fills wallet by wallet: a credit, then receipts that lie evenly in the months before this one. Every rule of the
 * check holds.
 */
const FILL = [
  `insert into ledger.wallets (app_id, user_id, currency, balance_micros, entry_seq, version)
   select '${APP}', 'user-' || n, 'EUR', ${CREDIT} - $each * 7, 1 + $each, 1 + $each from generate_series(1, $wallets) n`,
  `insert into ledger.journal (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
   select n, 1, 'top_up', 'top_up:' || n || ':first', 'processor', 'wallet', ${CREDIT}, ${CREDIT}
   from generate_series(1, $wallets) n`,
  `insert into usage.calls (call_id, wallet_id, month, model, price_id, outcome, is_estimated, prompt_tokens, cached_tokens,
     completion_tokens, reasoning_tokens, held_micros, charged_micros, correlation_id, seq, balance_after_micros, settled_at)
   select (lpad(to_hex((extract(epoch from t.at) * 1000)::bigint), 12, '0') || '7' || substr(md5(w || ':' || s), 1, 3) || '8'
       || substr(md5(w || ':' || s), 4, 15))::uuid,
     w, date_trunc('month', t.at at time zone 'UTC'), 'acme.large-1', 1, 'answered', false, 10, 0, 10, 0, 200, 7,
     'cor_' || md5(s || ' ' || w), 1 + s, ${CREDIT} - s * 7, t.at
   from generate_series(1, $each) s cross join generate_series(1, $wallets) w
   cross join lateral (
     select span.first + (span.past * (s - 1 + w::float8 / ($wallets + 1)) / $each) as at
     from (
       select db.current_month()::timestamp at time zone 'UTC' as this,
         (db.current_month() - interval '${MONTHS - 1} months')::timestamp at time zone 'UTC' as first
     ) m cross join lateral (select m.first, m.this - m.first as past) span
   ) t`,
] as const;

/** Closes the months as they count for passes. What closing does to a month is not measured here. */
const CLOSED = `update ledger.months set closed_at = now(), receipts = 0, entries = 0, charged_micros = 0, rows_hash = '', chain_hash = ''
  where month < db.current_month()`;

interface Subject {
  readonly name: string;
  readonly pool: Pool;
  readonly instance: bigint;
  readonly users: readonly EndUserId[];
}

const log = createLog('warn');

async function prepare(url: string, name: string, receipts: number, wallets: number): Promise<Subject> {
  const admin = createPool({ url, role: 'owner', connectionsMax: 1, log });
  await admin.query(`create database ${name}`);
  await admin.query(`alter database ${name} set synchronous_commit = off`); // A commit waits for the disk, and computes nothing.
  await admin.end();
  const own = new URL(url);
  own.pathname = `/${name}`;
  const pool = createPool({ url: own.href, role: 'owner', connectionsMax: 1, log, statementMsMax: 3_600_000 });
  await migrate(pool);
  if (receipts > 0) await pool.query(OLD_MONTHS);
  while (await makeMonth(pool));
  const since = performance.now();
  const each = String(Math.round(receipts / wallets));
  for (const text of FILL) await pool.query(text.replaceAll('$each', each).replaceAll('$wallets', String(wallets)));
  await pool.query('vacuum analyze');
  await pool.query('checkpoint');
  const { rows } = await pool.query<{ size: string; parts: number }>(
    `select pg_size_pretty(pg_database_size(current_database())) as size,
       (select count(*)::int from ledger.months) as parts`,
  );
  const [{ size, parts } = { size: '', parts: 0 }] = rows;
  console.log(`${name}: ${receipts} receipts, ${wallets} wallets, ${parts} months, ${size}, ${took(since)} s`);
  const step = Math.floor(wallets / ACTIVE);
  const users = Array.from({ length: ACTIVE }, (_, index) => `user-${1 + index * step}` as EndUserId);
  return { name, pool, instance: await insertInstance(pool, LEASE_MS), users };
}

const took = (since: number): string => ((performance.now() - since) / 1000).toFixed(1);

/** Microseconds on a processor so far, of the one connection of a pool. */
async function computed(pool: Pool): Promise<{ readonly pid: number; readonly us: number }> {
  const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid');
  const pid = rows[0]?.pid ?? 0;
  return { pid, us: Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1_000 };
}

const holdOf = (userId: EndUserId) => ({
  callId: newCallId(),
  appId: APP,
  userId,
  least: micros(100n),
  most: micros(200n),
  streamsMax: 0,
});

const endOf = ({ callId }: { readonly callId: ReturnType<typeof newCallId> }) =>
  ({
    callId,
    charge: micros(150n),
    outcome: 'answered',
    model: 'acme.large-1',
    priceId: 1n,
    isEstimated: false,
    isUsageClamped: false,
    usage: { promptTokens: 10, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 10, reasoningTokens: 0 },
    correlationId: undefined,
  }) as const;

/** Users in an order that is the same for both databases. */
function callers({ users }: Subject, window: number): readonly EndUserId[] {
  return Array.from(
    { length: CALLS_A_WINDOW },
    (_, index) => users[(window * 389 + index * 677) % ACTIVE] as EndUserId,
  );
}

/** What is measured: each gives the microseconds of a call. */
const KINDS: Readonly<Record<string, (subject: Subject, window: number) => Promise<void>>> = {
  'a call alone': async (subject, window) => {
    for (const user of callers(subject, window)) {
      const hold = holdOf(user);
      await takeTurn(subject.pool, subject.instance, { settlements: [], requests: [hold] });
      await takeTurn(subject.pool, subject.instance, { settlements: [endOf(hold)], requests: [] });
    }
  },
  'a call in turns of 64': async (subject, window) => {
    const all = callers(subject, window);
    let running: ReturnType<typeof holdOf>[] = [];
    for (let at = 0; at <= all.length; at += TURN) {
      const requests = all.slice(at, at + TURN).map(holdOf);
      await takeTurn(subject.pool, subject.instance, { settlements: running.map(endOf), requests });
      running = requests;
    }
  },
  'its part in the sums': async ({ pool }) => {
    await rollUpAll(pool, 1);
  },
  'its part in the check': async ({ pool }) => {
    const { found } = await checkChanges(pool);
    if (found !== 0n) throw new Error('The books are wrong.');
  },
};

/** Each database in turn, the first of them another time; the middle of the windows counts. */
async function measure(subjects: readonly Subject[]): Promise<void> {
  const figures = new Map<string, number[]>();
  for (let window = 0; window <= WINDOWS; window += 1) {
    for (const subject of window % 2 === 0 ? subjects : subjects.toReversed()) {
      for (const [kind, work] of Object.entries(KINDS)) {
        const before = await computed(subject.pool);
        await work(subject, window);
        const after = await computed(subject.pool);
        const each = (after.us - before.us) / (kind.startsWith('its') ? 2 * CALLS_A_WINDOW : CALLS_A_WINDOW);
        const name = `${subject.name} ${kind}`;
        if (window > 0 && after.pid === before.pid) figures.set(name, [...(figures.get(name) ?? []), each]);
      }
    }
  }
  for (const kind of Object.keys(KINDS)) {
    const [empty = NaN, grown = NaN] = subjects.map(({ name }) => middle(figures.get(`${name} ${kind}`) ?? []));
    console.log(`${kind}: ${empty.toFixed(0)} µs, grown ${grown.toFixed(0)} µs, ${(grown / empty).toFixed(2)}`);
  }
}

function middle(list: readonly number[]): number {
  return list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? NaN;
}

const directory = mkdtempSync(path.join(os.tmpdir(), 'purser-growth-'));
const server = await startEmbeddedPostgres({ directory: path.join(directory, 'postgres'), log, say: () => {} });
const subjects: Subject[] = [];
try {
  const admin = createPool({ url: server.url, role: 'owner', connectionsMax: 1, log });
  await admin.query('alter system set autovacuum = off'); // What it does belongs to no call.
  await admin.query('select pg_reload_conf()');
  await admin.end();
  subjects.push(await prepare(server.url, 'empty', 0, ACTIVE), await prepare(server.url, 'grown', RECEIPTS, WALLETS));
  for (const { pool } of subjects) {
    await rollUpAll(pool, 1);
    await checkChanges(pool);
  }
  await measure(subjects);
  console.log('with all months before this one closed:');
  for (const { pool } of subjects) {
    await pool.query(CLOSED);
    await rollUpAll(pool, 1);
    await checkChanges(pool);
  }
  await measure(subjects);
  if (values.check) {
    const since = performance.now();
    const { found, entries } = await checkLedger((subjects[1] as Subject).pool);
    console.log(`full check of ${entries} entries: ${took(since)} s, ${found} differences`);
  }
} finally {
  for (const { pool } of subjects) await pool.end();
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
}
