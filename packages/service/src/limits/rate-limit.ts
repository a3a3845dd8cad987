import { randomUUID } from 'node:crypto';
import { createBatcher } from '#db/batcher.ts';
import type { Pool } from '#db/pool.ts';
import { assert } from '#kernel/assert.ts';
import type { SteadyClock } from '#kernel/clock.ts';
import type { AppId } from '#kernel/ids.ts';
import {
  type LeasePlan,
  isSame,
  KnownBucket,
  type RateAnswer,
  type RateLimits,
  refused,
} from '#limits/known-bucket.ts';
import { type LeaseAsked, type LeaseRow, leaseTokens } from '#limits/queries.ts';

export type { RateAnswer, RateLimits };

export interface RateLimiter {
  /**
   * Takes one token from the app's bucket, which all its keys, both modes and every process share (LI-01). Answers at once
   * where no statement is needed.
   */
  readonly take: (appId: AppId, limits: RateLimits) => RateAnswer | Promise<RateAnswer>;
  /** Gives back what is leased. A call that comes later asks the database. */
  readonly stop: () => Promise<void>;
}

interface Asked {
  readonly appId: AppId;
  readonly limits: RateLimits;
  /** False: only the lease is renewed or handed in, and nobody hears the answer. */
  readonly isCall: boolean;
}

/** What one statement asks for one app. */
interface Question extends LeasePlan {
  readonly bucket: KnownBucket;
  readonly limits: RateLimits;
  /** Calls that wait. */
  wanted: number;
}

const BATCH_MAX = 1_024;
const RETRIES_MAX = 5; // Half a second without a database. A token that was taken twice for that only delays the app.
const LOOK_MS = 250;
const NOBODY_HEARS: RateAnswer = refused(0);

/**
 * The bucket lies in the database; one statement takes tokens for all calls that wait in this process. A busy app's tokens
 * are leased, so that its calls wait for no statement; what an empty bucket answered is remembered until its next
 * token, so that neither does a caller who hammers.
 */
export function createRateLimiter(pool: Pool, clock: SteadyClock): RateLimiter {
  const holder = randomUUID();
  const buckets = new Map<AppId, KnownBucket>();
  let isStopped = false;
  let looking: NodeJS.Timeout | undefined;

  function bucketOf(appId: AppId, limits: RateLimits): KnownBucket {
    const known = buckets.get(appId);
    if (known !== undefined) return known;
    const bucket = new KnownBucket(limits);
    buckets.set(appId, bucket);
    return bucket;
  }

  /** Takes what each app's calls want, and hands it out in the order in which they came. */
  async function takeForAll(asked: readonly Asked[]): Promise<readonly RateAnswer[]> {
    const askedAtMs = clock.nowMs();
    const questions = new Map<AppId, Question>();
    for (const { appId, limits, isCall } of asked) {
      const question = questions.get(appId) ?? questionOf(bucketOf(appId, limits), askedAtMs, isStopped);
      if (isCall) question.wanted += 1;
      questions.set(appId, question);
    }
    const rows = await leaseTokens(pool, holder, [...questions].map(askedOf));
    return answersOf(asked, questions, rows, { askedAtMs, nowMs: clock.nowMs() });
  }

  const taking = createBatcher<Asked, RateAnswer>({ run: takeForAll, itemsMax: BATCH_MAX, retriesMax: RETRIES_MAX });

  /** Renews or hands in a lease, beside the calls. Where that fails, it ends by itself, and the next call will tell. */
  async function renew(appId: AppId, bucket: KnownBucket): Promise<void> {
    bucket.isRenewing = true;
    await taking.submit({ appId, limits: bucket.limits, isCall: false }).catch(() => {});
    bucket.isRenewing = false;
  }

  /** Hands in what nobody has used in time. */
  function look(): void {
    const nowMs = clock.nowMs();
    for (const [appId, bucket] of buckets) if (bucket.isOverdue(nowMs)) void renew(appId, bucket);
  }

  return {
    take: (appId, limits) => {
      const nowMs = clock.nowMs();
      const bucket = bucketOf(appId, limits);
      if (!isSame(bucket.limits, limits)) bucket.changeLimits(limits); // An operator's change holds at once.
      const answer = bucket.answer(nowMs);
      if (answer === undefined) {
        looking ??= setInterval(look, LOOK_MS).unref();
        return taking.submit({ appId, limits, isCall: true });
      }
      if (answer.isTaken && bucket.isDue(nowMs)) void renew(appId, bucket);
      return answer;
    },
    stop: async () => {
      isStopped = true;
      clearInterval(looking);
      const held = [...buckets].filter(([, bucket]) => bucket.isHolding());
      await Promise.all(held.map(([appId, bucket]) => renew(appId, bucket)));
    },
  };
}

function questionOf(bucket: KnownBucket, nowMs: number, isEnding: boolean): Question {
  return { bucket, limits: bucket.limits, wanted: 0, ...bucket.plan(nowMs, isEnding) };
}

function askedOf([bucket, { limits, wanted, kept, back, leased }]: readonly [AppId, Question]): LeaseAsked {
  return { bucket, perMinute: limits.ratePerMinute, burst: limits.rateBurst, wanted, kept, back, leased };
}

/** Hands out what the database gave, and what is leased when that is not enough: it was taken before they called. */
function answersOf(
  asked: readonly Asked[],
  questions: ReadonlyMap<AppId, Question>,
  rows: readonly LeaseRow[],
  times: { readonly askedAtMs: number; readonly nowMs: number },
): readonly RateAnswer[] {
  const answered = new Map<AppId, { readonly row: LeaseRow; readonly bucket: KnownBucket; tokens: number }>();
  for (const row of rows) {
    const question = questions.get(row.app_id);
    assert(question !== undefined, 'nothing but what was asked is answered');
    const { bucket, limits, wanted } = question;
    bucket.learn(row, { limits, wanted, ...times });
    answered.set(row.app_id, { row, bucket, tokens: row.granted });
  }
  return asked.map(({ appId, isCall }) => {
    const app = answered.get(appId);
    assert(app !== undefined, 'every app is answered');
    if (!isCall) return NOBODY_HEARS;
    app.tokens -= 1;
    if (app.tokens >= 0) return app.bucket.granted(app.tokens);
    return app.bucket.spend(times.nowMs) ?? refused(app.row.wait_ms);
  });
}
