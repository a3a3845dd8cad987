import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Pool } from '../../../packages/service/src/db/pool/pool.ts';
import { type AppId, newAppId } from '../../../packages/service/src/kernel/values/ids.ts';
import {
  createRateLimiter,
  type RateLimiter,
  type RateLimits,
} from '../../../packages/service/src/limits/rate-limit.ts';
import type { TestDatabase } from '../../support/database.ts';
import { createGate, type Gate } from '../../support/gate.ts';

/** Calls that were requested after `fromMs` and answered by `toMs`. */
interface Served {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The trouble of a process's next statement: it waits before the database sees it, or its answer waits or is lost. */
export type Trouble = 'held' | 'answer held' | 'answer lost';

const TOKEN_UNITS = 60_000_000;
const MINUTE_MS = 60_000;

/** A gateway process, as far as rate limits go. */
interface Process {
  readonly limiter: RateLimiter;
  readonly pending: Set<Promise<void>>;
  trouble: Trouble | undefined;
  /** Where its statement waits. */
  gate: Gate | undefined;
  isDead: boolean;
}

/**
 * Runs several processes on one bucket. The test controls time: it passes in the processes and in the database at once,
 * and real time that passes meanwhile counts as well.
 */
export class RateHistory {
  readonly appId: AppId = newAppId();
  /** Calls and statements so far. */
  calls = 0;
  statements = 0;
  readonly #database: TestDatabase;
  readonly #pool: Pool;
  readonly #limits: RateLimits;
  readonly #processes: Process[];
  readonly #served: Served[] = [];
  readonly #executing = new Set<Promise<unknown>>();
  /** The gate is opened when a statement is held. */
  #holding = createGate();
  #passedMs = 0;

  constructor(database: TestDatabase, pool: Pool, limits: RateLimits, processes: number) {
    this.#database = database;
    this.#pool = pool;
    this.#limits = limits;
    this.#processes = Array.from({ length: processes }, () => this.#begin());
  }

  /** Makes this many calls at once. They are answered unless their process's statement is held. */
  async call(index: number, calls: number): Promise<void> {
    const process = this.#at(index);
    const fromMs = this.#nowMs();
    for (let count = 0; count < calls; count += 1) {
      this.calls += 1;
      const answering = (async () => {
        const { isTaken } = await process.limiter.take(this.appId, this.#limits);
        if (isTaken) this.#served.push({ fromMs, toMs: this.#nowMs() });
      })().finally(() => process.pending.delete(answering));
      process.pending.add(answering);
    }
    await this.#settle();
  }

  /** Lets time pass for everybody. */
  async pass(ms: number): Promise<void> {
    await this.#settle();
    const client = await this.#database.owner.connect();
    await client.query('begin');
    await client.query('select from limits.buckets where app_id = $1 for update', [this.appId]);
    await client.query(
      `update limits.buckets set refilled_at_us = refilled_at_us - $2, leases_until_us = leases_until_us - $2
       where app_id = $1`,
      [this.appId, ms * 1_000],
    );
    await client.query('update limits.token_leases set until_us = until_us - $2 where app_id = $1', [
      this.appId,
      ms * 1_000,
    ]);
    await client.query('commit');
    client.release();
    this.#passedMs += ms;
  }

  /** Gives the next statement of this process, or of its successor, this trouble. */
  trouble(index: number, trouble: Trouble): void {
    this.#at(index).trouble = trouble;
  }

  /** Lets held statements go on. */
  async release(index: number): Promise<void> {
    const process = this.#at(index);
    process.trouble = undefined;
    process.gate?.open();
    process.gate = undefined;
    await this.#settle();
  }

  /** A process dies silently and another starts. The answers it waited for reach nobody. */
  crash(index: number): void {
    this.#at(index).isDead = true;
    this.#processes[index] = this.#begin();
  }

  /** A process ends gracefully and another starts. */
  async end(index: number): Promise<void> {
    await this.release(index);
    await this.#at(index).limiter.stop();
    this.crash(index);
  }

  /** Lets everything finish and every process end, and then judges what was served. */
  async close(): Promise<void> {
    for (const index of this.#processes.keys()) await this.end(index);
    await this.check();
  }

  /** Asserts that no span of time has more calls than the burst and what time adds, and that the bucket has no more than the burst. */
  async check(): Promise<void> {
    const { ratePerMinute, rateBurst } = this.#limits;
    for (const fromMs of new Set(this.#served.map((one) => one.fromMs))) {
      const inside = this.#served.filter((one) => one.fromMs >= fromMs).map(({ toMs }) => toMs);
      for (const [before, toMs] of inside.toSorted((one, next) => one - next).entries()) {
        const most = rateBurst + ((toMs - fromMs) * ratePerMinute) / MINUTE_MS;
        assert.ok(before < most, `${before + 1} calls in ${toMs - fromMs} ms, but at most ${most} are allowed`);
      }
    }
    const { rows } = await this.#database.owner.query<{ units: string }>(
      `select (b.units + ${TOKEN_UNITS} * coalesce(sum(a.tokens), 0))::text as units
       from limits.buckets b left join limits.token_leases a using (app_id) where app_id = $1 group by b.units`,
      [this.appId],
    );
    assert.ok(rows.every(({ units }) => Number(units) <= rateBurst * TOKEN_UNITS));
  }

  #begin(): Process {
    const query = (...args: Parameters<Pool['query']>) => this.#query(process, args);
    const limiter = createRateLimiter({ query } as unknown as Pool, { nowMs: () => this.#nowMs() });
    const process: Process = { limiter, pending: new Set(), trouble: undefined, gate: undefined, isDead: false };
    return process;
  }

  async #query(process: Process, args: Parameters<Pool['query']>): Promise<unknown> {
    if (process.isDead) return new Promise(() => {});
    this.statements += 1;
    const { trouble } = process;
    process.trouble = undefined;
    const gate = createGate();
    if (trouble?.includes('held') === true) {
      process.gate = gate;
      this.#holding.open();
    } else gate.open();
    if (trouble === 'held') await gate.opened;
    const executing = this.#pool.query(...args) as unknown as Promise<unknown>;
    this.#executing.add(executing);
    const answer = await executing.finally(() => this.#executing.delete(executing));
    if (trouble === 'answer held') await gate.opened;
    if (trouble === 'answer lost') throw new Error('Connection terminated unexpectedly');
    return answer;
  }

  /** Waits until nothing runs except held statements and what waits behind them. */
  async #settle(): Promise<void> {
    for (;;) {
      await nextTurn();
      this.#holding = createGate();
      const answering = this.#processes.filter(({ gate }) => gate === undefined).flatMap(({ pending }) => [...pending]);
      const left = [...this.#executing, ...answering];
      if (left.length === 0) return;
      await Promise.race([Promise.allSettled(left), this.#holding.opened]);
    }
  }

  #at(index: number): Process {
    const process = this.#processes[index];
    assert.ok(process !== undefined);
    return process;
  }

  #nowMs(): number {
    return performance.now() + this.#passedMs;
  }
}
