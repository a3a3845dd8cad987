import type { Pool } from '#db/pool.ts';
import type { Clock } from '#kernel/clock.ts';
import type { AppId } from '#kernel/ids.ts';
import { type TokensRow, takeTokens } from '#limits/queries.ts';

interface RateLimits {
  readonly ratePerMinute: number;
  readonly rateBurst: number;
}

/** Undefined: go on. Otherwise the milliseconds until the next token. */
type RateAnswer = { readonly waitMs: number } | undefined;

export interface RateLimiter {
  /** Takes one token from the app's bucket, which all its keys, both modes and every process share (LI-01). */
  readonly take: (appId: AppId, limits: RateLimits) => RateAnswer | Promise<RateAnswer>;
}

/** A leased token that is not used within this time is thrown away: never more than the limit, at most a little less. */
const LEASE_MS = 1_000;
/** An app that is busy here leases ahead what it used here in a tenth of a second, and never more than 2 % of its burst. */
const LEASE_AHEAD_MS = 100;
const LEASE_SHARE_OF_BURST = 0.02;

interface Waiter {
  readonly resolve: (answer: RateAnswer) => void;
  readonly reject: (fault: unknown) => void;
}

interface AppState {
  readonly limits: RateLimits;
  leased: number;
  leasedUntilMs: number;
  emptyUntilMs: number;
  readonly waiting: Waiter[];
  takenSinceMs: number;
  taken: number;
}

/**
 * The bucket lies in the database; a process takes tokens from it in one statement for all that wait, and a busy app a
 * few ahead, so that most calls wait for nothing. What an empty bucket answered is remembered until its next token.
 */
export function createRateLimiter(pool: Pool, clock: Clock): RateLimiter {
  const apps = new Map<AppId, AppState>();
  let isTaking = false;

  function stateOf(appId: AppId, limits: RateLimits, nowMs: number): AppState {
    const known = apps.get(appId);
    // Other limits make another state: an operator's change holds at once.
    if (known?.limits.rateBurst === limits.rateBurst && known.limits.ratePerMinute === limits.ratePerMinute)
      return known;
    const state = { limits, leased: 0, leasedUntilMs: 0, emptyUntilMs: 0, taken: 0, takenSinceMs: nowMs };
    const fresh = { ...state, waiting: known?.waiting ?? [] };
    apps.set(appId, fresh);
    return fresh;
  }

  /** Asks for what waits and a little ahead, again and again until nothing waits. */
  async function takeAll(): Promise<void> {
    if (isTaking) return;
    isTaking = true;
    await Promise.resolve(); // What arrives in the same turn shares the statement.
    for (let busy = busyApps(apps); busy.length > 0; busy = busyApps(apps)) await takeFor(pool, clock, busy);
    isTaking = false;
  }

  return {
    take: (appId, limits) => {
      const nowMs = clock.nowMs();
      const state = stateOf(appId, limits, nowMs);
      if (state.emptyUntilMs > nowMs && state.waiting.length === 0) return { waitMs: state.emptyUntilMs - nowMs };
      if (state.leased > 0 && state.leasedUntilMs > nowMs) {
        state.leased -= 1;
        state.taken += 1;
        return undefined;
      }
      return new Promise((resolve, reject) => {
        state.waiting.push({ resolve, reject });
        void takeAll();
      });
    },
  };
}

function busyApps(apps: ReadonlyMap<AppId, AppState>): readonly (readonly [AppId, AppState])[] {
  return [...apps].filter(([, state]) => state.waiting.length > 0);
}

async function takeFor(pool: Pool, clock: Clock, busy: readonly (readonly [AppId, AppState])[]): Promise<void> {
  const asked = busy.map(([appId, state]) => ({
    appId,
    state,
    waiters: state.waiting.splice(0),
    ahead: leaseAhead(state, clock.nowMs()),
  }));
  try {
    const rows = await takeTokens(
      pool,
      asked.map(({ appId, state, waiters, ahead }) => ({
        appId,
        wanted: waiters.length + ahead,
        perMinute: state.limits.ratePerMinute,
        burst: state.limits.rateBurst,
      })),
    );
    const byApp = new Map(rows.map((row) => [row.app_id, row]));
    for (const { appId, state, waiters } of asked) {
      const row = byApp.get(appId);
      if (row === undefined) throw new Error('The rate limit was not answered.');
      hand(state, waiters, row, clock.nowMs());
    }
  } catch (fault) {
    for (const { waiters } of asked) for (const { reject } of waiters) reject(fault);
  }
}

function hand(
  state: AppState,
  waiters: readonly Waiter[],
  { granted, wait_ms: waitMs }: TokensRow,
  nowMs: number,
): void {
  for (const { resolve } of waiters.slice(0, granted)) resolve(undefined);
  for (const { resolve } of waiters.slice(granted)) resolve({ waitMs });
  state.taken += Math.min(granted, waiters.length);
  state.leased = Math.max(0, granted - waiters.length);
  state.leasedUntilMs = nowMs + LEASE_MS;
  state.emptyUntilMs = granted < waiters.length ? nowMs + waitMs : 0;
}

/** How many tokens to lease ahead: what this process used lately, and none for an app that is not busy here. */
function leaseAhead(state: AppState, nowMs: number): number {
  const elapsedMs = Math.max(1, nowMs - state.takenSinceMs);
  const recent = (state.taken / Math.max(elapsedMs, LEASE_MS)) * LEASE_AHEAD_MS;
  if (elapsedMs >= LEASE_MS) {
    state.taken = 0;
    state.takenSinceMs = nowMs;
  }
  return Math.floor(Math.min(recent, state.limits.rateBurst * LEASE_SHARE_OF_BURST));
}
