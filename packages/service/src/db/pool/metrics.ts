import pg from 'pg';
import { catalogueReading, catalogueTimings } from '#kernel/metrics/catalogue-metrics.ts';
import { steadyClock } from '#kernel/time/clock.ts';

/** What a pool's connections are for. Pools with the same use are counted together. */
export type PoolUse =
  | 'calls'
  | 'rates'
  | 'sandbox'
  | 'reads'
  | 'upkeep'
  | 'planes'
  | 'reports'
  | 'deliveries'
  | 'check'
  | 'stats';

/** The bounds in seconds. The last is the timeout of a connection. */
const BOUNDS = [0.0001, 0.001, 0.005, 0.025, 0.1, 0.5, 1, 5];

const waits = catalogueTimings(
  [
    {
      name: 'purser_database_wait_seconds',
      help: 'How long statements waited for a connection to the database.',
      bounds: BOUNDS,
    },
  ],
  { names: [], fixed: ['pool'] },
);

const open = new Set<MeteredPool>();

type Connected = (
  fault: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: unknown) => void,
) => void;

/** A pool that counts its connections, and how long statements wait for one. */
export class MeteredPool extends pg.Pool {
  readonly use: PoolUse;
  readonly #wait: { readonly observe: (seconds: number) => void } | undefined;

  constructor(config: pg.PoolConfig, use: PoolUse) {
    super(config);
    this.use = use;
    this.#wait = waits.of(use)[0];
    open.add(this);
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(connected: Connected): void;
  override connect(connected?: Connected): Promise<pg.PoolClient> | void {
    const isFree = this.idleCount > this.waitingCount; // As for nearly every statement of a call, which makes no closure then.
    if (isFree) this.countReady();
    if (isFree) return connected === undefined ? super.connect() : super.connect(connected);
    const begunMs = steadyClock.nowMs();
    if (connected === undefined) return super.connect().finally(() => this.#note(begunMs));
    super.connect((fault, client, done) => {
      this.#note(begunMs);
      connected(fault, client, done);
    });
  }

  /** Counts a statement that had a connection at once. */
  protected countReady(): void {
    this.#wait?.observe(0);
  }

  /** The connections that no statement has now. */
  idleNow(): number {
    return this.idleCount;
  }

  #note(begunMs: number): void {
    this.#wait?.observe((steadyClock.nowMs() - begunMs) / 1_000);
  }

  override end(): Promise<void>;
  override end(ended: () => void): void;
  override end(ended?: () => void): Promise<void> | void {
    open.delete(this);
    return ended === undefined ? super.end() : super.end(ended);
  }
}

function ofEach(read: (pool: MeteredPool) => number) {
  return () => Array.from(open, (pool) => [[pool.use], read(pool)] as const);
}

catalogueReading({
  name: 'purser_database_pool_connections',
  help: 'Open connections to the database, by what they are for. busy: a statement or transaction has it.',
  kind: 'gauge',
  across: 'sum',
  labels: ['pool', 'state'],
  read: () =>
    Array.from(open, (pool) => [
      [[pool.use, 'busy'], pool.totalCount - pool.idleNow()] as const,
      [[pool.use, 'idle'], pool.idleNow()] as const,
    ]).flat(),
});
catalogueReading({
  name: 'purser_database_pool_connections_max',
  help: 'The most connections that may be open, by what they are for.',
  kind: 'gauge',
  across: 'sum',
  labels: ['pool'],
  read: ofEach(({ options }) => options.max),
});
catalogueReading({
  name: 'purser_database_pool_waiting',
  help: 'Statements that wait for a connection now.',
  kind: 'gauge',
  across: 'sum',
  labels: ['pool'],
  read: ofEach(({ waitingCount }) => waitingCount),
});
