import { statfs } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { FINDING_KINDS } from '@purser/contract/operator-overview.ts';
import { selectEnd } from '#audit/chain-queries.ts';
import { selectDatabaseHealth, selectInstances } from '#db/health/queries.ts';
import type { Pool } from '#db/pool/pool.ts';
import { standbysAsked } from '#db/health/standbys.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import type { MetricReading } from '#kernel/metrics/metrics.ts';
import { microsToWire } from '#kernel/values/micros.ts';
import type { Attention } from '#operator/health/attention.ts';
import type { ReadQueue } from '#operator/health/health.ts';

export interface FiguresOptions {
  readonly pool: Pool;
  readonly dataDirectory: string;
  readonly attention: () => Promise<Attention>;
  readonly queues: readonly ReadQueue[];
  /** The least number of synchronous standbys that the settings ask for. */
  readonly standbysMin: number;
  /** The end of the certificate of the public address in milliseconds. Undefined if the address has none, or it was not reached. */
  readonly certificateEndsMs: () => Promise<number | undefined>;
  /** How old this cell's copy of the directory is, in seconds. Undefined if it has none. */
  readonly copyAge: (pool: Pool) => Promise<number | undefined>;
  /** How many tables of the directory differ in the copy that this cell has, and how long ago they were compared. */
  readonly comparison: (
    pool: Pool,
  ) => Promise<{ readonly differing: number; readonly age_seconds: number } | undefined>;
  readonly log: Log;
}

/** Items above this number are not counted, because a queue of ten thousand is trouble enough. */
const COUNTED_MAX = 10_000;
const INSTANCES_MAX = 100;
/** Prometheus waits for ten seconds. Without an answer by then, the figures of the processes are shown alone. */
const DATABASE_MS_MAX = 3_000;
/** Scrapes within this time share one look, so that a flood of them asks the database once. */
const KEPT_MS = 2_000;

/** A finding that each process sees for itself. `purser_upstream_open` has it for all of them. */
const OF_PROCESS = 'upstream-open';
const KINDS = FINDING_KINDS.filter((kind) => kind !== OF_PROCESS);

/**
 * Reads the figures that are not a process's own, at the moment of a scrape: what waits in the database, what needs a person, the
 * leases, the disk. Some ten statements, none of which reads calls or receipts. Nothing is read while nobody asks.
 */
export function createFigures(options: FiguresOptions): () => Promise<readonly MetricReading[]> {
  let kept: { readonly untilMs: number; readonly read: Promise<readonly MetricReading[]> } | undefined;
  return () => {
    if (kept === undefined || steadyClock.nowMs() >= kept.untilMs) {
      kept = { untilMs: steadyClock.nowMs() + KEPT_MS, read: readFigures(options) };
    }
    return kept.read;
  };
}

async function readFigures(options: FiguresOptions): Promise<readonly MetricReading[]> {
  const certificate = options.certificateEndsMs();
  const [disk, stored] = await Promise.all([
    statfs(options.dataDirectory).catch(() => undefined),
    inTime(readStored(options), DATABASE_MS_MAX).catch((fault: unknown) => {
      options.log.warn({ fault: describeFault(fault) }, 'the metrics are without those of the database');
      return undefined;
    }),
  ]);
  // The first look at the public address may take seconds. The next scrape has it.
  const endsMs = await Promise.race([certificate, setImmediate(undefined)]);
  return [
    one('purser_database_up', '1 if the database answered this scrape in time.', stored === undefined ? 0 : 1),
    one('purser_disk_free_bytes', 'Free on the disk of the data directory.', disk && disk.bavail * disk.bsize),
    one('purser_disk_size_bytes', 'The size of the disk of the data directory.', disk && disk.blocks * disk.bsize),
    one(
      'purser_certificate_expiry_timestamp_seconds',
      'When the TLS certificate of PURSER_PUBLIC_URL ends. Missing if that address is not https or does not answer.',
      endsMs && endsMs / 1_000,
    ),
    ...storedReadings(stored, options.standbysMin),
  ];
}

type Stored = Awaited<ReturnType<typeof readStored>>;

async function readStored({ pool, attention, queues, copyAge, comparison }: FiguresOptions) {
  const [database, instances, end, found, copyAgeSeconds, compared, waiting] = await Promise.all([
    selectDatabaseHealth(pool),
    selectInstances(pool, INSTANCES_MAX),
    selectEnd(pool),
    attention(),
    copyAge(pool),
    comparison(pool),
    Promise.all(queues.map(async ({ name, read }) => ({ name, ...(await read(pool, COUNTED_MAX)) }))),
  ]);
  return { database, instances, audit: Number(end.waiting), found, copyAgeSeconds, compared, waiting };
}

/** The names are there without a database too, so that a missing figure is not taken for a misspelt one. */
function storedReadings(stored: Stored | undefined, standbysMin: number): readonly MetricReading[] {
  const { database, instances = [], audit = 0, found, waiting = [] } = stored ?? {};
  const counts = new Map(found?.findings.map(({ kind, count }) => [kind, count]));
  return [
    ...databaseReadings(database, standbysMin),
    one(
      'purser_directory_copy_age_seconds',
      "How old this cell's copy of the directory is. Missing without cells, and in the cell that has the directory.",
      stored?.copyAgeSeconds,
    ),
    one(
      'purser_directory_copy_differing_tables',
      "Tables of the directory of which this cell's copy had other rows when it was compared. Missing where the copy age is.",
      stored?.compared?.differing,
    ),
    one(
      'purser_directory_copy_compared_seconds',
      "How long ago this cell's copy of the directory was compared with it.",
      stored?.compared?.age_seconds,
    ),
    one(
      'purser_gateways',
      'Gateway processes with a lease on this database, on every machine.',
      stored && instances.length,
    ),
    one(
      'purser_lease_shortest_seconds',
      'How long the shortest of their leases still runs. Below 0: a process is silent, and its holds are about to be released.',
      instances.length === 0 ? undefined : Math.min(...instances.map((lease) => lease.lease_seconds)),
    ),
    one('purser_held_micros', 'Money that live calls hold now, in micros.', found && microsToWire(found.held.amount)),
    one('purser_held_calls', 'Live calls that hold money now, of every gateway.', found?.held.calls),
    many('purser_queue_length', 'What waits in the database, at most 10,000.', [
      ...waiting.map((queue) => [`{queue="${queue.name}"}`, queue.waiting] as const),
      ...(stored === undefined ? [] : [['{queue="audit"}', audit] as const]),
    ]),
    many(
      'purser_queue_oldest_seconds',
      'How long the oldest of them has been due.',
      waiting.map((queue) => [`{queue="${queue.name}"}`, queue.oldest_seconds] as const),
    ),
    many(
      'purser_findings',
      'Things that a person has to look at, as the overview of operators shows them, at most 1,000 of each kind.',
      found === undefined ? [] : KINDS.map((kind) => [`{kind="${kind}"}`, counts.get(kind) ?? 0] as const),
    ),
  ];
}

function databaseReadings(database: Stored['database'] | undefined, standbysMin: number): readonly MetricReading[] {
  return [
    one('purser_database_size_bytes', 'The size of the database.', database && Number(database.size_bytes)),
    one(
      'purser_database_connections',
      'Connections to this database, of everybody.',
      database?.connections.reduce((sum, { count }) => sum + count, 0),
    ),
    one('purser_database_connections_max', 'The most that the server takes.', database?.connections_max),
    one(
      'purser_database_standbys_wanted',
      'Synchronous standbys that each commit should wait for: what the server asks for, and at least one if PURSER_DATABASE_DURABILITY is standby.',
      database && Math.max(standbysAsked(database.standby_names), standbysMin),
    ),
    one(
      'purser_database_standbys_streaming',
      'Synchronous standbys that stream now. Missing if the owner of the database is no member of pg_read_all_stats.',
      database?.standbys_streaming ?? undefined,
    ),
    one(
      'purser_database_archive_waiting',
      'Finished parts of the log that wait to be archived. Missing if it cannot be seen.',
      database?.archive_parts ?? undefined,
    ),
    one(
      'purser_database_archive_waiting_seconds',
      'How long the oldest of them has waited. 0 without an archive.',
      database?.archive_seconds ?? undefined,
    ),
  ];
}

function one(name: string, help: string, value: number | undefined): MetricReading {
  return many(name, help, value === undefined ? [] : [['', value]]);
}

function many(name: string, help: string, samples: MetricReading['samples']): MetricReading {
  return { name, kind: 'gauge', help, across: 'max', samples };
}

async function inTime<Result>(work: Promise<Result>, ms: number): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`The database did not answer within ${ms} ms.`)), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
