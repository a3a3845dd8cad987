// Compares the sums of calls with a million receipts, and times what pages read: `npm run proofs -- stats`, `-- --calls <n>` for fewer.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { migrate } from '../packages/service/src/db/schema/migrate.ts';
import { createPool, type Pool } from '../packages/service/src/db/pool/pool.ts';
import { startEmbeddedPostgres } from '../packages/service/src/embedded/embedded-postgres.ts';
import type { AppId } from '../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../packages/service/src/kernel/log.ts';
import { rebuildStats } from '../packages/service/src/calls/rebuild/rebuild.ts';
import { rollUpAll } from '../packages/service/src/calls/roll-up/roll-up.ts';
import { createStats } from '../packages/service/src/calls/stats/stats.ts';
import { fillReceipts, sumDifferences } from '../tests/support/many-receipts.ts';

const { values } = parseArgs({ options: { calls: { type: 'string', default: '1000000' } } });
const CALLS = Number(values.calls);
const SIZES = { calls: CALLS, wallets: Math.ceil(CALLS / 40), apps: 20, days: 30 };
/** A pass over the whole history is killed so often. */
const KILLS = 5;
const PERIOD_MS = 1_000;
const DAY_MS = 86_400_000;

async function timed<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  const since = performance.now();
  const result = await work();
  const ms = performance.now() - since;
  console.log(`${what}: ${ms < 1_000 ? `${ms.toFixed(1)} ms` : `${(ms / 1_000).toFixed(1)} s`}`);
  return result;
}

async function compare(owner: Pool, what: string): Promise<void> {
  const differences = await sumDifferences(owner);
  console.log(`  ${what}: ${differences.length} differences`);
  for (const one of differences)
    console.log(JSON.stringify(one, (_, value) => (typeof value === 'bigint' ? String(value) : value)));
  process.exitCode ||= Number(differences.length > 0);
}

/** Begins a pass, ends its connection in the middle of it, and goes on with the next. */
async function killPasses(owner: Pool, live: Pool): Promise<void> {
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const pass = rollUpAll(live, PERIOD_MS).then(
      () => 'ended',
      () => 'killed',
    );
    await new Promise((resolve) => {
      setTimeout(resolve, 100 * kill);
    });
    await owner.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'purser_live' and datname = current_database()`,
    );
    console.log(`  pass ${kill}: ${await pass}`);
  }
}

async function prove(owner: Pool, live: Pool): Promise<void> {
  await timed(`${CALLS} receipts of ${SIZES.wallets} wallets written`, () => fillReceipts(owner, SIZES));
  await killPasses(owner, live);
  console.log(`  ${await timed('a pass over the rest', () => rollUpAll(live, PERIOD_MS))} calls`);
  await compare(owner, 'sums against receipts, after killed passes');
  await timed('a pass over nothing new', () => rollUpAll(live, PERIOD_MS));
  await owner.query(`update stats.hours set charged_micros = charged_micros + 1, calls = calls + 1`);
  const time = { from: new Date('2000-01-01'), to: new Date(Date.now() + DAY_MS) };
  await timed('rebuild', () => rebuildStats(owner, time));
  await compare(owner, 'sums against receipts, after a rebuild');
}

/** Each read of a page, the second time, when its rows are in memory. */
async function read(live: Pool): Promise<void> {
  const stats = createStats(live);
  const toMs = Date.now();
  const month = { mode: 'live', fromMs: toMs - 30 * DAY_MS, toMs } as const;
  const one = { appId: 'app_1' as AppId, ...month };
  const all = { of: 'every app', ...month } as const;
  for (const [what, work] of [
    ['totals of an app, 30 days', () => stats.totals(one)],
    ['series by hour of an app, 30 days', () => stats.series({ ...one, step: 'hour' })],
    ['series by day of an app, 30 days', () => stats.series({ ...one, step: 'day' })],
    ['models of an app, 30 days', () => stats.byModel(one)],
    ['outcomes of an app, 30 days', () => stats.byOutcome(one)],
    ['keys of an app, 30 days', () => stats.byKey(one)],
    ['totals of all apps, 30 days', () => stats.totals(all)],
    ['apps, 30 days', () => stats.byApp(all)],
  ] as const) {
    await work();
    await timed(what, work as () => Promise<unknown>);
  }
}

const directory = mkdtempSync(path.join(os.tmpdir(), 'purser-stats-'));
const log = createLog('silent');
const server = await startEmbeddedPostgres({ directory: path.join(directory, 'postgres'), log, say: () => {} });
const owner = createPool({ url: server.url, role: 'owner', connectionsMax: 2, log });
const live = createPool({ url: server.url, role: 'live', connectionsMax: 1, log });
try {
  await migrate(owner);
  await prove(owner, live);
  await read(live);
} finally {
  await Promise.all([owner.end(), live.end()]);
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
}
