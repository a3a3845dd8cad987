import type { LeaseRow } from '#limits/queries.ts';

export interface RateLimits {
  readonly ratePerMinute: number;
  readonly rateBurst: number;
}

export interface RateAnswer {
  /** A token was there, and is taken: go on. */
  readonly isTaken: boolean;
  /** Whole tokens that are left for the next calls, as far as this process knows. */
  readonly tokensLeft: number;
  /** Until the next token; 0 where this one was taken. */
  readonly waitMs: number;
}

/** For how long after it was asked for a lease may be spent. Ends well before the database counts it as spent. */
const LEASE_MS = 1_000;
/** A lease is renewed at half its time or at half its tokens, beside the calls. */
const RENEWED_AFTER_MS = LEASE_MS / 2;
/** Calls a second from which a lease costs fewer statements than it saves. */
const DEMAND_MIN = 4;
/** The database gives no more than this part of the burst either, over all processes. */
const SHARES = 10;
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/** What a lease comes to when the database is asked next. */
export interface LeasePlan {
  readonly kept: number;
  readonly back: number;
  readonly leased: number;
}

/** What a statement asked, and when; `nowMs`: when it was answered. */
interface BucketQuestion {
  readonly askedAtMs: number;
  readonly nowMs: number;
  readonly limits: RateLimits;
  readonly wanted: number;
}

/**
 * What one process knows of one app's bucket: what lay in it when the database was asked last, and the tokens that this
 * process has leased for calls to come. All times are of one steady clock, in milliseconds.
 */
export class KnownBucket {
  limits: RateLimits; // Those of the latest call.
  /** A statement is under way for the lease alone. */
  isRenewing = false;
  #lease = 0;
  #leaseUntilMs = 0;
  #renewedAtTokens = 0;
  #emptyUntilMs = 0;
  #left = 0;
  #full = 0;
  #leftAtMs = 0;
  /** Calls of the second that runs, and of the one before. */
  #calls = 0;
  #callsBefore = 0;
  #secondBeganMs = 0;
  #calledAtMs = 0;

  constructor(limits: RateLimits) {
    this.limits = limits;
  }

  /** Other limits: what was answered under the old ones says nothing any more, and their lease goes back. */
  changeLimits(limits: RateLimits): void {
    this.limits = limits;
    this.#emptyUntilMs = 0;
    this.#leaseUntilMs = 0;
  }

  /** Answers a call from what is known, or not at all. */
  answer(nowMs: number): RateAnswer | undefined {
    const answer = this.spend(nowMs);
    if (answer === undefined && nowMs < this.#emptyUntilMs) return refused(this.#emptyUntilMs - nowMs);
    this.#count(nowMs);
    return answer;
  }

  /** Takes a token of the lease. */
  spend(nowMs: number): RateAnswer | undefined {
    if (this.#lease === 0 || nowMs >= this.#leaseUntilMs) return undefined;
    this.#lease -= 1;
    const refilled = ((nowMs - this.#leftAtMs) * this.limits.ratePerMinute) / MINUTE_MS;
    return taken(Math.min(this.#full, this.#left + refilled) + this.#lease);
  }

  /** True when the lease should be renewed although it is there. */
  isDue(nowMs: number): boolean {
    if (this.isRenewing) return false;
    return this.#lease <= this.#renewedAtTokens || nowMs >= this.#leaseUntilMs - RENEWED_AFTER_MS;
  }

  /** True when there is a lease, or one may be on its way. */
  isHolding(): boolean {
    return this.#lease > 0 || this.isRenewing;
  }

  /** True when there is a lease that nobody has renewed in time. */
  isOverdue(nowMs: number): boolean {
    return this.#lease > 0 && nowMs >= this.#leaseUntilMs && !this.isRenewing;
  }

  /**
   * What to keep of the lease, to hand in and to ask for: as much as the last second took, and nothing once nobody calls.
   * What is handed in is gone from here, whatever becomes of the statement.
   */
  plan(nowMs: number, isEnding: boolean): LeasePlan {
    const leased = isEnding ? 0 : this.#demand(nowMs);
    const kept = Math.min(this.#lease, leased);
    const back = this.#lease - kept;
    this.#lease = kept;
    return { kept, back, leased };
  }

  /** Takes over what the database has answered. */
  learn(row: LeaseRow, { askedAtMs, nowMs, limits, wanted }: BucketQuestion): void {
    if (!row.is_held) this.#lease = 0;
    this.#lease += row.leased;
    this.#renewedAtTokens = Math.floor(this.#lease / 2);
    this.#left = row.tokens_left;
    this.#full = row.tokens_full;
    this.#leftAtMs = nowMs;
    if (!isSame(limits, this.limits)) return; // What it gave under other limits goes back with the next statement.
    this.#leaseUntilMs = askedAtMs + LEASE_MS;
    if (row.granted < wanted) this.#emptyUntilMs = nowMs + row.wait_ms;
  }

  /** Answers a call that the database gave a token; so many others of its statement come after it. */
  granted(othersAfter: number): RateAnswer {
    return taken(this.#left + othersAfter + this.#lease);
  }

  #demand(nowMs: number): number {
    const calls = nowMs - this.#calledAtMs >= RENEWED_AFTER_MS ? 0 : Math.max(this.#calls, this.#callsBefore);
    return calls < DEMAND_MIN ? 0 : Math.min(calls, Math.floor(this.limits.rateBurst / SHARES));
  }

  #count(nowMs: number): void {
    const secondMs = nowMs - this.#secondBeganMs;
    if (secondMs >= SECOND_MS) {
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
