import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import type { Pool } from '../../packages/service/src/db/pool/pool.ts';
import { newAppId } from '../../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { createHomeLease } from '../../packages/service/src/limits/home-lease.ts';
import { type LeaseRow, leaseTokens } from '../../packages/service/src/limits/queries.ts';
import { createRateLimiter } from '../../packages/service/src/limits/rate-limit.ts';
import { untilWaiting } from '../support/lock-wait.ts';
import { stepDatabaseClock } from '../support/database-clock.ts';
import { createRateBuckets, stoppedClock } from '../support/rate-buckets.ts';
import { sql } from '../support/sql.ts';
import { waitUntil } from '../support/wait-until.ts';

const buckets = await createRateBuckets();
const { database, pool, openPool, setBucket, fillOnce, unitsOf } = buckets;
after(buckets.close);

const LIMITS = { ratePerMinute: 60, rateBurst: 20 };
const emptyFor = (waitMs: number) => ({ isTaken: false, tokensLeft: 0, waitMs });

test('LI-01 a bucket gives what it holds, then a wait', async () => {
  const limiter = createRateLimiter(pool, stoppedClock());
  const appId = newAppId();
  await fillOnce(appId, 3.25);
  for (let count = 0; count < 3; count += 1) assert.equal((await limiter.take(appId, LIMITS)).isTaken, true);
  assert.deepEqual(await limiter.take(appId, LIMITS), emptyFor(750)); // Three quarters of a token, at one token a second.
});

test('LI-01 an empty bucket is remembered until its next token', async () => {
  const clock = stoppedClock();
  const limiter = createRateLimiter(pool, clock);
  const appId = newAppId();
  await fillOnce(appId, 0);
  assert.deepEqual(await limiter.take(appId, LIMITS), emptyFor(1_000));
  await fillOnce(appId, 5);
  clock.moveOn(400);
  assert.deepEqual(limiter.take(appId, LIMITS), emptyFor(600), 'answered from memory');
  clock.moveOn(600);
  assert.equal((await limiter.take(appId, LIMITS)).isTaken, true);
});

test('LI-01 only refusals are remembered, not a last token taken', async () => {
  const limiter = createRateLimiter(pool, stoppedClock());
  const appId = newAppId();
  await fillOnce(appId, 1);
  assert.equal((await limiter.take(appId, LIMITS)).isTaken, true);
  await fillOnce(appId, 1);
  assert.equal((await limiter.take(appId, LIMITS)).isTaken, true);
});

test('LI-01 concurrent calls share a bucket to the token', async () => {
  const limiter = createRateLimiter(pool, stoppedClock());
  const appId = newAppId();
  await fillOnce(appId, 12);
  const answers = await Promise.all(Array.from({ length: 50 }, async () => limiter.take(appId, LIMITS)));
  assert.equal(answers.filter(({ isTaken }) => isTaken).length, 12);
});

test('LI-01 each concurrent call learns its own remainder', async () => {
  const limiter = createRateLimiter(pool, stoppedClock());
  const appId = newAppId();
  await fillOnce(appId, 3.9);
  for (const tokensLeft of [2, 1, 0]) {
    assert.deepEqual(await limiter.take(appId, LIMITS), { isTaken: true, tokensLeft, waitMs: 0 });
  }
});

test('LI-01 calls in several processes learn the same as sequential ones', async () => {
  const other = openPool();
  const limiters = [createRateLimiter(pool, stoppedClock()), createRateLimiter(other, stoppedClock())];
  const [appId, quiet] = [newAppId(), newAppId()];
  await fillOnce(appId, 60);
  await fillOnce(quiet, 9);
  const large = { ratePerMinute: 60, rateBurst: 10_000 };
  const asked = Array.from({ length: 80 }, async (_, index) => limiters[index % 2]?.take(appId, large));
  const beside = limiters[0]?.take(quiet, large);
  const answers = await Promise.all(asked);
  const left = answers.filter((answer) => answer?.isTaken).map((answer) => Number(answer?.tokensLeft));
  assert.deepEqual(
    left.toSorted((one, next) => next - one),
    Array.from({ length: 60 }, (_, index) => 59 - index),
  );
  for (const process of [0, 1]) {
    const own = answers.filter((_, index) => index % 2 === process).map((answer) => Number(answer?.tokensLeft));
    assert.ok(
      own.every((tokens, index) => index === 0 || tokens <= Number(own[index - 1])),
      'in the order of the calls',
    );
  }
  assert.equal((await beside)?.tokensLeft, 8);
  await other.end();
});

test('LI-01 two processes never both get one token', async () => {
  const limiters = [createRateLimiter(pool, stoppedClock()), createRateLimiter(pool, stoppedClock())];
  const appId = newAppId();
  await fillOnce(appId, 5);
  const before = await database.owner.connect();
  await sql(before)`begin`;
  await sql(before)`update limits.buckets set units = 60000000 where app_id = ${appId}`;
  const asked = limiters.map(async (limiter) => limiter.take(appId, LIMITS));
  await untilWaiting(database, 2);
  await sql(before)`commit`;
  before.release();
  const answers = await Promise.all(asked);
  assert.deepEqual(
    answers.toSorted((one, next) => one.waitMs - next.waitMs),
    [{ isTaken: true, tokensLeft: 0, waitMs: 0 }, emptyFor(1_000)],
  );
});

test('LI-01 one app’s bucket does not affect another’s', async () => {
  const limiter = createRateLimiter(pool, stoppedClock());
  const [poor, rich] = [newAppId(), newAppId()];
  await fillOnce(poor, 0);
  await fillOnce(rich, 1);
  const [refused, taken] = await Promise.all([limiter.take(poor, LIMITS), limiter.take(rich, LIMITS)]);
  assert.deepEqual([refused.isTaken, taken.isTaken], [false, true]);
});

test('LI-01 a long idle bucket is full, and no fuller', async () => {
  const limiter = createRateLimiter(pool, stoppedClock());
  const appId = newAppId();
  await setBucket(appId, 0, '-100 days');
  const slow = { ratePerMinute: 1, rateBurst: 5 };
  assert.equal((await limiter.take(appId, slow)).isTaken, true);
  assert.equal(await unitsOf(appId), 4n * 60_000_000n);
});

test('LI-01 a lowered burst cuts the bucket’s tokens at once', async () => {
  const limiter = createRateLimiter(pool, stoppedClock());
  const appId = newAppId();
  await fillOnce(appId, 20);
  assert.equal((await limiter.take(appId, LIMITS)).isTaken, true);
  const smaller = { ratePerMinute: 60, rateBurst: 2 };
  const answers = [];
  for (let count = 0; count < 4; count += 1) answers.push(await limiter.take(appId, smaller));
  assert.deepEqual(
    answers.map(({ isTaken }) => isTaken),
    [true, true, false, false],
  );
});

test('LI-01 a raised limit applies at once after a refusal', async () => {
  const limiter = createRateLimiter(pool, stoppedClock());
  const appId = newAppId();
  await setBucket(appId, 0, '-1 second');
  const tiny = { ratePerMinute: 1, rateBurst: 1 };
  assert.equal((await limiter.take(appId, tiny)).isTaken, false);
  assert.equal((await limiter.take(appId, { ratePerMinute: 1_000_000, rateBurst: 1_000_000 })).isTaken, true);
});

test('LI-01 tokens taken and left add up under load', async () => {
  const clock = stoppedClock();
  const limiter = createRateLimiter(pool, clock);
  const appId = newAppId();
  const large = { ratePerMinute: 60, rateBurst: 10_000 };
  await fillOnce(appId, 500);
  let taken = 0;
  for (let round = 0; round < 15; round += 1) {
    const answers = await Promise.all(Array.from({ length: 40 }, async () => limiter.take(appId, large)));
    taken += answers.filter(({ isTaken }) => isTaken).length;
    assert.equal(BigInt(taken) * 60_000_000n + (await unitsOf(appId)), 500n * 60_000_000n);
    clock.moveOn(300);
  }
  assert.equal(taken, 500);
});

test('LI-01 an unreachable database fails only the current call', async () => {
  const closed = openPool();
  let isBroken = true;
  const flaky = {
    query: (...args: Parameters<Pool['query']>) =>
      isBroken ? Promise.reject(new Error('gone')) : closed.query(...args),
  } as unknown as Pool;
  const limiter = createRateLimiter(flaky, stoppedClock());
  const appId = newAppId();
  await fillOnce(appId, 1);
  await assert.rejects(async () => limiter.take(appId, LIMITS), /gone/);
  isBroken = false;
  assert.equal((await limiter.take(appId, LIMITS)).isTaken, true);
  await closed.end();
});

test('LI-01 a clock step gives out at most one burst', async () => {
  const appId = newAppId();
  const asked = { bucket: appId, perMinute: 60, burst: 20, kept: 0, returned: 0 };
  const take = async (wanted: number, target = 0) => {
    const [row] = await leaseTokens(pool, randomUUID(), [{ ...asked, wanted, target }]);
    return row;
  };
  await fillOnce(appId, 20);
  assert.equal((await take(20))?.granted, 20);
  await stepDatabaseClock(database, '1 hour');
  assert.equal((await take(0, 2))?.leased, 2); // By a process that dies.
  assert.equal((await take(20))?.granted, 18);
  await stepDatabaseClock(database, '0');
  const emptied = await take(1);
  assert.ok(emptied !== undefined && emptied.granted === 0 && emptied.wait_ms <= 1_000, JSON.stringify(emptied));
  await stepDatabaseClock(database, '2 seconds');
  assert.equal((await take(1))?.granted, 1);
  await stepDatabaseClock(database, '1 minute');
  assert.equal((await take(20))?.granted, 20, 'the lease has ended too');
});

test('CE-05 LI-01 a cell gives only its own share when another is silent', async () => {
  const clock = stoppedClock();
  const appId = newAppId();
  await fillOnce(appId, 1); // The share.
  let isAway = false;
  const lease = createHomeLease({
    home: 'c1',
    cellCount: () => 100,
    clock,
    log: createLog('silent'),
    ask: ({ asked }) => {
      if (isAway) return Promise.reject(new Error('away'));
      const rows = asked.map(
        ({ bucket, wanted, kept, target }): LeaseRow => ({
          app_id: bucket,
          granted: wanted,
          is_held: true,
          leased: target - kept,
          tokens_left: 80,
          tokens_full: 90,
          wait_ms: 0,
        }),
      );
      return Promise.resolve(rows);
    },
  });
  let statements = 0;
  const query = async (...args: Parameters<Pool['query']>) => {
    const answer = await (pool.query(...args) as unknown as Promise<unknown>);
    statements += 1;
    return answer;
  };
  const limiter = createRateLimiter({ query } as unknown as Pool, clock, lease);
  const limits = { ratePerMinute: 100, rateBurst: 100 };
  const take = async (calls: number) => {
    const answers: boolean[] = [];
    for (let call = 0; call < calls; call += 1) {
      answers.push((await limiter.take(appId, limits)).isTaken);
    }
    return answers.filter(Boolean).length;
  };
  assert.equal(await take(20), 20);
  isAway = true;
  clock.moveOn(600);
  assert.equal(await take(1), 1, 'a leased token, and the lease is renewed beside it');
  await waitUntil('the renewal is over', () => statements === 1);
  assert.equal(await take(20), 1, 'the share');
  isAway = false;
  clock.moveOn(1_000);
  await limiter.take(appId, limits); // It looks for the home, and is answered from the share.
  clock.moveOn(1_000);
  assert.equal(await take(20), 20);
  await limiter.stop();
});
