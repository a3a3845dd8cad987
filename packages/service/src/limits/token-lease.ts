import type { LeaseRow } from '#limits/queries.ts';

export interface RateLimits {
  readonly ratePerMinute: number;
  readonly rateBurst: number;
}

export interface RateAnswer {
  /** Tells whether the call got a token and may go on. */
  readonly isTaken: boolean;
  /** The whole tokens left for the next calls, as far as this process knows. */
  readonly tokensLeft: number;
  /** Milliseconds until the next token; 0 when this call got one. */
  readonly waitMs: number;
}

/**
 * How long after the request a process may spend its leased tokens. The database waits three seconds before it writes
 * them off as spent, so every process has stopped well before.
 */
const LEASE_MS = 1_000;
/** A lease is renewed in the background at half its time or half its tokens, so that calls do not wait for the renewal. */
const RENEWED_AFTER_MS = LEASE_MS / 2;
/** Below this many calls a second, a lease costs more statements than it saves. */
const DEMAND_MIN = 4;
/** One lease asks for at most a tenth of the burst. The database grants all processes together no more than that either. */
const SHARES = 10;
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/** What the next statement tells the database about this process's lease. */
export interface LeasePlan {
  /** The leased tokens that the process keeps. */
  readonly kept: number;
  /** The leased tokens that go back into the bucket. */
  readonly returned: number;
  /** Tokens that the process wants to hold in all, the kept ones included. */
  readonly target: number;
}

/** What a statement asked for and when. `nowMs`: when the answer arrived. */
interface BucketQuestion {
  readonly askedAtMs: number;
  readonly nowMs: number;
  readonly limits: RateLimits;
  readonly wanted: number;
}

/**
 * One process's view of one app's token bucket: what the database last reported, and the tokens that the process has
 * leased for calls to come. It does no I/O, so an answer from here costs a few additions. All times are milliseconds of
 * one steady clock.
 */
export class TokenLease {
  limits: RateLimits; // Those of the latest call.
  /** Tells whether a statement is renewing or returning the lease in the background. */
  isRenewing = false;
  #leasedTokens = 0;
  #leasedUntilMs = 0;
  #renewedAtTokens = 0;
  #emptyUntilMs = 0;
  #left = 0;
  #full = 0;
  #leftAtMs = 0;
  /** Calls in the current second, and in the one before it. They decide how large the lease should be. */
  #calls = 0;
  #callsBefore = 0;
  #secondBeganMs = 0;
  #calledAtMs = 0;

  constructor(limits: RateLimits) {
    this.limits = limits;
  }

  /**
   * Takes over limits that an operator changed. Answers given under the old limits no longer count, and the tokens leased
   * under them are returned with the next statement.
   */
  changeLimits(limits: RateLimits): void {
    this.limits = limits;
    this.#emptyUntilMs = 0;
    this.#leasedUntilMs = 0;
  }

  /**
   * Answers a call from memory: with a leased token, or with a refusal while the bucket is known to be empty. Returns
   * undefined when only the database can tell.
   */
  answer(nowMs: number): RateAnswer | undefined {
    const answer = this.spend(nowMs);
    // Refusals are not counted as demand: a caller who hammers an empty bucket must not earn a larger lease by it.
    if (answer === undefined && nowMs < this.#emptyUntilMs) return refused(this.#emptyUntilMs - nowMs);
    this.#count(nowMs);
    return answer;
  }

  /** Spends one leased token. Returns undefined when there is none, or when the lease has expired. */
  spend(nowMs: number): RateAnswer | undefined {
    if (this.#leasedTokens === 0 || nowMs >= this.#leasedUntilMs) return undefined;
    this.#leasedTokens -= 1;
    const refilled = ((nowMs - this.#leftAtMs) * this.limits.ratePerMinute) / MINUTE_MS;
    return taken(Math.min(this.#full, this.#left + refilled) + this.#leasedTokens);
  }

  /** Returns true when the lease should be renewed although it can still be spent. */
  isDue(nowMs: number): boolean {
    if (this.isRenewing) return false;
    return this.#leasedTokens <= this.#renewedAtTokens || nowMs >= this.#leasedUntilMs - RENEWED_AFTER_MS;
  }

  /** Returns true when the process holds leased tokens, or may be about to receive some. */
  isHolding(): boolean {
    return this.#leasedTokens > 0 || this.isRenewing;
  }

  /**
   * Returns true when a lease has expired with tokens left. They must be returned, or other processes go without them.
   */
  isOverdue(nowMs: number): boolean {
    return this.#leasedTokens > 0 && nowMs >= this.#leasedUntilMs && !this.isRenewing;
  }

  /**
   * Decides what to keep, return and ask for: as many tokens as the last second's calls took, and none once calls stop.
   * Returned tokens are removed here at once. If the statement fails, they count as spent, which never lets too many
   * calls through.
   */
  plan(nowMs: number, isEnding: boolean): LeasePlan {
    const target = isEnding ? 0 : this.#demand(nowMs);
    const kept = Math.min(this.#leasedTokens, target);
    const returned = this.#leasedTokens - kept;
    this.#leasedTokens = kept;
    return { kept, returned, target };
  }

  /** Takes over the database's answer. */
  learn(row: LeaseRow, { askedAtMs, nowMs, limits, wanted }: BucketQuestion): void {
    if (!row.is_held) this.#leasedTokens = 0;
    this.#leasedTokens += row.leased;
    this.#renewedAtTokens = Math.floor(this.#leasedTokens / 2);
    this.#left = row.tokens_left;
    this.#full = row.tokens_full;
    this.#leftAtMs = nowMs;
    // The limits changed while the statement ran: its tokens stay unspent and are returned with the next statement.
    if (!isSame(limits, this.limits)) return;
    // Counted from the request, not the answer: the database's own clock for the lease starts in between.
    this.#leasedUntilMs = askedAtMs + LEASE_MS;
    if (row.granted < wanted) this.#emptyUntilMs = nowMs + row.wait_ms;
  }

  /** Answers a call with a token that the database granted. `othersAfter`: calls of the same statement still to be answered. */
  granted(othersAfter: number): RateAnswer {
    return taken(this.#left + othersAfter + this.#leasedTokens);
  }

  #demand(nowMs: number): number {
    const calls = nowMs - this.#calledAtMs >= RENEWED_AFTER_MS ? 0 : Math.max(this.#calls, this.#callsBefore);
    return calls < DEMAND_MIN ? 0 : Math.min(calls, Math.floor(this.limits.rateBurst / SHARES));
  }

  #count(nowMs: number): void {
    const secondMs = nowMs - this.#secondBeganMs;
    if (secondMs >= SECOND_MS) {
      // After a pause of more than a second, the last counted second says nothing about the present demand.
      this.#callsBefore = secondMs < 2 * SECOND_MS ? this.#calls : 0;
      this.#calls = 0;
      this.#secondBeganMs = nowMs;
    }
    this.#calls += 1;
    this.#calledAtMs = nowMs;
  }
}

export function isSame(left: RateLimits, right: RateLimits): boolean {
  return left === right || (left.rateBurst === right.rateBurst && left.ratePerMinute === right.ratePerMinute);
}

function taken(tokensLeft: number): RateAnswer {
  return { isTaken: true, tokensLeft: Math.floor(tokensLeft), waitMs: 0 };
}

export function refused(waitMs: number): RateAnswer {
  return { isTaken: false, tokensLeft: 0, waitMs };
}
