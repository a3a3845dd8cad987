import { randomUUID } from 'node:crypto';
import { createBatcher } from '#db/batches/batcher.ts';
import type { Pool } from '#db/pool/pool.ts';
import { assert } from '#kernel/faults/assert.ts';
import type { SteadyClock } from '#kernel/time/clock.ts';
import type { AppId, KeyId } from '#kernel/values/ids.ts';
import { isSame, type LeasePlan, type RateAnswer, type RateLimits, refused, TokenLease } from '#limits/token-lease.ts';
import { type LeaseRequest, type LeaseRow, leaseTokens } from '#limits/queries.ts';

export type { RateAnswer, RateLimits };

/** An app, or a key that has a limit of its own beside it. The bucket of a key is under the first key of its line (CP-08). */
export type BucketOwner = AppId | KeyId;

export interface RateLimiter {
  /**
   * Takes one token from the bucket of an app, which all its keys, both modes and every process share (LI-01), or of a key.
   * Answers synchronously when no statement is needed: most calls of a busy app do not even wait for a microtask.
   */
  readonly take: (owner: BucketOwner, limits: RateLimits) => RateAnswer | Promise<RateAnswer>;
  /** Returns all leased tokens to the buckets. A call that comes later asks the database. */
  readonly stop: () => Promise<void>;
}

export type LeaseTokens = typeof leaseTokens;

interface Asked {
  readonly owner: BucketOwner;
  readonly limits: RateLimits;
  /** Tells whether a call waits for the answer. It is false when the lease alone is renewed or returned. */
  readonly isCall: boolean;
}

/** What one statement asks for one app. */
interface Question extends LeasePlan {
  readonly lease: TokenLease;
  readonly limits: RateLimits;
  /** Calls that wait for a token. */
  wanted: number;
}

const BATCH_MAX = 1_024;
// About half a second without a database. A retry may take a token twice, which delays the app and never lets a call through.
const retriesMax = (): number => 5;
const RETURN_CHECK_MS = 250;
const UNHEARD: RateAnswer = refused(0); // The answer of a renewal, which nobody reads.

/**
 * The buckets are rows of the database. One statement takes tokens for all calls that wait in this process. Two things
 * keep that statement off the hot path: a busy app's tokens are leased in advance, and an empty bucket is remembered until
 * its next token, so that a caller who hammers costs no statements either. `lease` takes tokens elsewhere than in the
 * database of `pool`, if another cell has the buckets.
 */
export function createRateLimiter(pool: Pool, clock: SteadyClock, lease: LeaseTokens = leaseTokens): RateLimiter {
  const holder = randomUUID();
  const leases = new Map<BucketOwner, TokenLease>();
  let isStopped = false;
  let returning: NodeJS.Timeout | undefined;

  function leaseOf(owner: BucketOwner, limits: RateLimits): TokenLease {
    const known = leases.get(owner);
    if (known !== undefined) return known;
    const lease = new TokenLease(limits);
    leases.set(owner, lease);
    return lease;
  }

  /** Takes what each app's calls want in one statement, and hands it out in the order in which the calls came. */
  async function takeForAll(asked: readonly Asked[]): Promise<readonly RateAnswer[]> {
    const askedAtMs = clock.nowMs();
    const questions = new Map<BucketOwner, Question>();
    for (const { owner, limits, isCall } of asked) {
      // `questionOf` plans the lease and must run once per app and statement: planning removes the returned tokens.
      const question = questions.get(owner) ?? questionOf(leaseOf(owner, limits), askedAtMs, isStopped);
      if (isCall) question.wanted += 1;
      questions.set(owner, question);
    }
    const rows = await lease(pool, holder, [...questions].map(requestOf));
    return answersOf(asked, questions, rows, { askedAtMs, nowMs: clock.nowMs() });
  }

  const taking = createBatcher<Asked, RateAnswer>({ run: takeForAll, itemsMax: BATCH_MAX, retriesMax });

  /**
   * Renews or returns a lease in the background. A failure needs no handling: the lease expires by itself, and the next
   * call that needs the database reports the outage.
   */
  async function renew(owner: BucketOwner, lease: TokenLease): Promise<void> {
    lease.isRenewing = true;
    await taking.submit({ owner, limits: lease.limits, isCall: false }).catch(() => {});
    lease.isRenewing = false;
  }

  /** Returns the tokens of expired leases. */
  function returnExpired(): void {
    const nowMs = clock.nowMs();
    for (const [owner, lease] of leases) if (lease.isOverdue(nowMs)) void renew(owner, lease);
  }

  return {
    take: (owner, limits) => {
      const nowMs = clock.nowMs();
      const lease = leaseOf(owner, limits);
      if (!isSame(lease.limits, limits)) lease.changeLimits(limits); // An operator's change takes effect at once.
      const answer = lease.answer(nowMs);
      if (answer === undefined) {
        returning ??= setInterval(returnExpired, RETURN_CHECK_MS).unref();
        return taking.submit({ owner, limits, isCall: true });
      }
      if (answer.isTaken && lease.isDue(nowMs)) void renew(owner, lease);
      return answer;
    },
    stop: async () => {
      isStopped = true;
      clearInterval(returning);
      const held = [...leases].filter(([, lease]) => lease.isHolding());
      await Promise.all(held.map(([owner, lease]) => renew(owner, lease)));
    },
  };
}

function questionOf(lease: TokenLease, nowMs: number, isEnding: boolean): Question {
  return { lease, limits: lease.limits, wanted: 0, ...lease.plan(nowMs, isEnding) };
}

function requestOf([bucket, { limits, wanted, kept, returned, target }]: readonly [
  BucketOwner,
  Question,
]): LeaseRequest {
  return { bucket, perMinute: limits.ratePerMinute, burst: limits.rateBurst, wanted, kept, returned, target };
}

/**
 * Hands out the tokens that the database granted, then leased ones. Leased tokens may serve calls that the database
 * could not: they left the bucket before these calls came.
 */
function answersOf(
  asked: readonly Asked[],
  questions: ReadonlyMap<BucketOwner, Question>,
  rows: readonly LeaseRow[],
  times: { readonly askedAtMs: number; readonly nowMs: number },
): readonly RateAnswer[] {
  const answered = new Map<BucketOwner, { readonly row: LeaseRow; readonly lease: TokenLease; tokens: number }>();
  for (const row of rows) {
    const question = questions.get(row.app_id);
    assert(question !== undefined, 'the database answers only for apps that were asked about');
    const { lease, limits, wanted } = question;
    lease.learn(row, { limits, wanted, ...times });
    answered.set(row.app_id, { row, lease, tokens: row.granted });
  }
  return asked.map(({ owner, isCall }) => {
    const app = answered.get(owner);
    assert(app !== undefined, 'the database answers for every app');
    if (!isCall) return UNHEARD;
    app.tokens -= 1;
    if (app.tokens >= 0) return app.lease.granted(app.tokens);
    return app.lease.spend(times.nowMs) ?? refused(app.row.wait_ms);
  });
}
