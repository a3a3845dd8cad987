import { statfs } from 'node:fs/promises';
import { selectEnd } from '#audit/chain-queries.ts';
import { selectDatabaseHealth, selectInstances } from '#db/health/queries.ts';
import type { Pool } from '#db/pool/pool.ts';
import type { Diagnosis } from '#doctor/diagnosis/diagnose.ts';
import type { MetricReading } from '#kernel/metrics/metrics.ts';
import { listChecks } from '#ledger/check/history.ts';

/** How the service runs, as one process sees it. The processes of this machine's service are counted together. */
export type Health = Awaited<ReturnType<ReturnType<typeof createHealth>>>;

interface HealthOptions {
  readonly pool: Pool;
  readonly version: string;
  readonly dataDirectory: string;
  /** The settings by name alone: their values may be secrets. */
  readonly settings: readonly { readonly name: string; readonly isSet: boolean }[];
  readonly readAllMetrics: () => Promise<readonly MetricReading[]>;
  /** What `purser doctor` finds, at most some seconds old. */
  readonly doctor: () => Promise<{ readonly atMs: number; readonly findings: readonly Diagnosis[] }>;
  /** What waits in the tables of other modules. */
  readonly queues: readonly ReadQueue[];
}

export interface ReadQueue {
  readonly name: 'deliveries' | 'mail';
  readonly read: (pool: Pool, most: number) => Promise<{ readonly waiting: number; readonly oldest_seconds: number }>;
}

/** The number is more than anybody counts. */
const COUNTED_MAX = 10_000;
const INSTANCES_MAX = 100;
const CHECKS_MAX = 48;

/** Reads how the service runs, in six statements. The doctor makes fourteen of its own, twice a minute at most. */
export function createHealth(options: HealthOptions) {
  const { pool, version, dataDirectory, settings, readAllMetrics, queues, doctor } = options;
  return async () => {
    const metrics = figuresOf(await readAllMetrics());
    const [database, instances, checks, end, disk, examined, waiting] = await Promise.all([
      selectDatabaseHealth(pool),
      selectInstances(pool, INSTANCES_MAX),
      listChecks(pool, CHECKS_MAX),
      selectEnd(pool),
      diskOf(dataDirectory),
      doctor(),
      Promise.all(queues.map(async ({ name, read }) => ({ name, ...(await read(pool, COUNTED_MAX)) }))),
    ]);
    const statsSeconds = metrics.one('purser_stats_last_success_timestamp_seconds');
    return {
      version,
      processes: {
        count: metrics.one('purser_processes'),
        uptimeSeconds: metrics.one('purser_process_uptime_seconds'),
        memoryBytes: metrics.one('purser_process_resident_memory_bytes'),
        callsUnderWay: metrics.one('purser_calls_under_way'),
        /** The longest time within the last minute that one of them was too busy to react. */
        longestBlockSeconds: metrics.one('purser_event_loop_delay_seconds'),
      },
      /** Gateways with a lease on this database, on every machine. */
      leases: instances.map((one) => ({
        instanceId: String(one.instance_id),
        startedAtMs: one.started_at.getTime(),
        seconds: one.lease_seconds,
      })),
      /** Calls since the processes started. */
      lanes: metrics.lanes(),
      queues: [
        {
          name: 'settlements' as const,
          waiting: metrics.one('purser_settlements_kept'),
          oldestSeconds: metrics.one('purser_settlements_kept_oldest_seconds'),
        },
        ...waiting.map(({ oldest_seconds: oldestSeconds, ...queue }) => ({ ...queue, oldestSeconds })),
        { name: 'traces' as const, waiting: metrics.one('purser_call_traces_waiting'), oldestSeconds: undefined },
        { name: 'audit' as const, waiting: Number(end.waiting), oldestSeconds: undefined },
      ],
      /** When all new receipts had last been added to the statistics. Undefined before the first time. */
      statsAtMs: statsSeconds === 0 ? undefined : statsSeconds * 1_000,
      database,
      /** The disk of the data directory of this process. It is undefined if it cannot be read. */
      disk,
      settings,
      checks,
      doctor: examined,
    };
  };
}

async function diskOf(directory: string) {
  try {
    const { bavail, blocks, bsize } = await statfs(directory);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch {
    return undefined;
  }
}

const LANE = /mode="([a-z]+)",outcome="([a-z]+)"/;

/** Looks figures up by the names under which `/metrics` shows them. */
function figuresOf(readings: readonly MetricReading[]) {
  const samples = (name: string) => readings.find((reading) => reading.name === name)?.samples ?? [];
  return {
    one: (name: string) => samples(name)[0]?.[1] ?? 0,
    lanes: () =>
      samples('purser_calls_total')
        .map(([labels, calls]) => {
          const [, mode = '', outcome = ''] = LANE.exec(labels) ?? [];
          return { mode, outcome, calls };
        })
        .filter(({ calls }) => calls > 0),
  };
}
