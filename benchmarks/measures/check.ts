import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bench, figure, type Measure, type Row } from '../measure.ts';
import { type Checkout, openCheckout } from '../support/checkout.ts';
import { cpuMicrosOf, cpuMicrosOfOne, memoryOf } from '../support/cpu.ts';
import type { BenchDatabase } from '../support/database.ts';
import type { Ground } from '../support/ground.ts';
import { liveTargetOf } from '../support/live-target.ts';
import { type Purser, startPurser } from '../support/purser.ts';
import { OWN_ROOT } from '../support/root.ts';
import { startTally } from '../support/tally.ts';
import { BESIDE, LIVE } from '../support/target.ts';
import { runWrk, type WrkResult } from '../support/wrk.ts';

/** The service checks what has changed once a minute, so a minute is measured, after calls enough that there is work for it. */
const SECONDS = 60;
const WARM_UP_SECONDS = 10;
const CONNECTIONS = 128;
const POLL_MS = 200;

/** What the service costs its own database beside the calls: the check of every minute. And how large it gets meanwhile. */
export const check: Measure = {
  name: 'check',
  title: 'A minute of plain calls over 10,000 wallets: the ledger check, and memory',
  run: async (bench) => {
    if (bench.tools.wrk === undefined) return [];
    const ground = await bench.ground();
    const rows = [await measureOne(bench, ground, LIVE, await openCheckout(OWN_ROOT))];
    if (bench.beside !== undefined) rows.push(await measureOne(bench, ground, BESIDE, bench.beside));
    return rows;
  },
};

/** Measures on a service and books of its own, which no other measure has used. */
async function measureOne(bench: Bench, ground: Ground, name: string, checkout: Checkout): Promise<Row> {
  const { tools } = bench;
  const { cores, users, upstream } = ground;
  await using started = new AsyncDisposableStack();
  const directory = path.join(bench.directory, name === LIVE ? 'check' : 'check-beside');
  const options = { name, checkout, tools, cores, directory, upstreamUrl: upstream.ready, users };
  return await measure(bench, ground, await startPurser(options, started));
}

async function measure(bench: Bench, { cores }: Ground, purser: Purser): Promise<Row> {
  const { wrk } = bench.tools;
  if (wrk === undefined) throw new Error('There is no wrk.');
  const { name, database, service } = purser;
  const target = liveTargetOf(purser);
  const tally = await startTally([target]);
  const run = (seconds: number, checks: boolean): Promise<WrkResult> => {
    const place = { cores: cores.load, directory: bench.directory };
    return runWrk(target.load, { tools: { ...bench.tools, wrk }, ...place, connections: CONNECTIONS, seconds, checks });
  };
  const warmUp = await run(WARM_UP_SECONDS, true);
  const watch = await watchCheck(database);
  const before = cpuMicrosOf(database.pid);
  const result = await run(SECONDS, false);
  const memory = memoryOf(service.pid) / 1_000_000;
  const databaseMicros = cpuMicrosOf(database.pid) - before;
  const checkMicros = await watch.end();
  tally.count(target, { answered: warmUp.calls + result.calls, cutOff: 2 * CONNECTIONS });
  const refused = warmUp.bad + result.refused;
  const booksFault = (await tally.judge(bench))(target);
  const isVoid = refused > 0 ? `${refused} answers were wrong` : booksFault;
  const share = (checkMicros / databaseMicros) * 100;
  bench.say(
    `${name}: ${result.calls} calls, of ${(databaseMicros / 1e6).toFixed(1)} s of PostgreSQL ${share.toFixed(1)} % in the check; ` +
      `${memory.toFixed(0)} MB`,
  );
  return {
    target: name,
    figures: {
      'calls/s': figure('calls/s', [(result.calls / result.micros) * 1_000_000]),
      'check, of the database': figure('%', [share]),
      memory: figure('MB', [memory]),
    },
    ...(isVoid === undefined ? {} : { isVoid }),
  };
}

/**
 * Adds up the processor time that backends which check the ledger use from now on. A backend that is idle for ten seconds
 * ends, so each is looked at often. In checkouts that do not name its connections, it is known by its statements.
 */
async function watchCheck({ owner }: BenchDatabase): Promise<{ readonly end: () => Promise<number> }> {
  const used = new Map<number, number>();
  const over = new AbortController();
  const look = async (): Promise<number> => {
    const { rows } = await owner.query<{ readonly pid: number }>(
      `select pid from pg_stat_activity
       where application_name = 'purser_check' or (pid <> pg_backend_pid() and query like '%ledger.%check%')`,
    );
    for (const pid of new Set([...used.keys(), ...rows.map((row) => row.pid)])) {
      used.set(pid, Math.max(used.get(pid) ?? 0, cpuMicrosOfOne(pid)));
    }
    return [...used.values()].reduce((sum, micros) => sum + micros, 0);
  };
  const before = await look();
  const looking = (async () => {
    while (!over.signal.aborted) {
      await look();
      await sleep(POLL_MS);
    }
  })();
  return {
    end: async () => {
      over.abort();
      await looking;
      return (await look()) - before;
    },
  };
}
