import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import type { Pool } from '../../packages/service/src/db/pool/pool.ts';
import { type AppId, newAppId } from '../../packages/service/src/kernel/values/ids.ts';
import { leaseTokens, takeTokens } from '../../packages/service/src/limits/queries.ts';
import { createRateLimiter, type RateLimiter, type RateLimits } from '../../packages/service/src/limits/rate-limit.ts';
import { createRateBuckets, stoppedClock } from '../support/rate-buckets.ts';
import { sql } from '../support/sql.ts';
import { waitUntil } from '../support/wait-until.ts';

/** A process leases tokens for calls to come, so that those calls wait for no statement. */

const buckets = await createRateBuckets();
const { database, pool, setBucket, fillOnce, unitsOf, leasesOf } = buckets;
after(buckets.close);

const TOKEN = 60_000_000n;
const LIMITS = { ratePerMinute: 60, rateBurst: 1_000 };

/** A process with a clock of its own, whose statements are counted. */
function startProcess() {
  const clock = stoppedClock();
  const counted = { statements: 0, answered: 0 };
  const query = async (...args: Parameters<Pool['query']>): Promise<unknown> => {
    counted.statements += 1;
    const answer = await (pool.query(...args) as unknown as Promise<unknown>);
    counted.answered += 1;
    return answer;
  };
  const limiter = createRateLimiter({ query } as unknown as Pool, clock);
  return { clock, counted, limiter };
}

async function takeInTurn(limiter: RateLimiter, appId: AppId, calls: number, limits: RateLimits = LIMITS) {
  const answers = [];
  for (let count = 0; count < calls; count += 1) answers.push(await limiter.take(appId, limits));
  return answers;
}

async function takeAtOnce(limiter: RateLimiter, appId: AppId, calls: number) {
  const answers = await Promise.all(Array.from({ length: calls }, async () => limiter.take(appId, LIMITS)));
  return answers.filter(({ isTaken }) => isTaken).length;
}

/** An app whose full bucket is never refilled, and a process that holds a lease on it. */
async function busyApp() {
  const started = startProcess();
  const appId = newAppId();
  await fillOnce(appId, 1_000);
  await takeInTurn(started.limiter, appId, 40);
  const [leased = 0] = await leasesOf(appId);
  assert.ok(leased > 0, 'no tokens are leased');
  return { ...started, appId };
}

/** The tokens in the bucket after every process has given back what it held. */
async function leftAfter(appId: AppId, limiters: readonly RateLimiter[]): Promise<bigint> {
  await Promise.all(limiters.map(({ stop }) => stop()));
  assert.deepEqual(await leasesOf(appId), []);
  return unitsOf(appId);
}

/** Lets time pass for a bucket and its leases. */
async function passSeconds(appId: AppId, seconds: number): Promise<void> {
  await database.owner.query(
    `with moved as (update limits.token_leases set until_us = until_us - $2::bigint where app_id = $1)
     update limits.buckets set refilled_at_us = refilled_at_us - $2, leases_until_us = leases_until_us - $2
     where app_id = $1`,
    [appId, seconds * 1_000_000],
  );
}

test('LI-01 a busy app’s calls take few statements', async () => {
  const { limiter, counted } = startProcess();
  const appId = newAppId();
  await fillOnce(appId, 1_000);
  const answers = await takeInTurn(limiter, appId, 200);
  assert.deepEqual(
    answers.map(({ tokensLeft }) => tokensLeft),
    Array.from({ length: 200 }, (_, index) => 999 - index),
  );
  assert.ok(counted.statements < 40, `${counted.statements} statements`);
  assert.equal(await leftAfter(appId, [limiter]), 800n * TOKEN);
});

test('LI-01 simultaneous calls each learn the remainder, leased tokens included', async () => {
  const { limiter } = startProcess();
  const appId = newAppId();
  await fillOnce(appId, 1_000);
  const left = [];
  for (let round = 0; round < 6; round += 1) {
    const answers = await Promise.all(Array.from({ length: 30 }, async () => limiter.take(appId, LIMITS)));
    left.push(...answers.map(({ tokensLeft }) => tokensLeft));
  }
  assert.deepEqual(
    left.toSorted((one, next) => next - one),
    Array.from({ length: 180 }, (_, index) => 999 - index),
  );
  assert.equal(await leftAfter(appId, [limiter]), 820n * TOKEN);
});

test('LI-01 a leased token answers a call at once', async () => {
  const { limiter, appId } = await busyApp();
  assert.ok(!(limiter.take(appId, LIMITS) instanceof Promise));
  await limiter.stop();
});

test('LI-01 a busy app never waits for a statement', async () => {
  const { limiter, appId, clock, counted } = await busyApp();
  for (let count = 0; count < 100; count += 1) {
    assert.ok(!(limiter.take(appId, LIMITS) instanceof Promise), `call ${count} waits`);
    clock.moveOn(25);
    await waitUntil('every statement is answered', () => counted.answered === counted.statements);
  }
  assert.ok(counted.statements < 40, `${counted.statements} statements`);
  assert.equal(await leftAfter(appId, [limiter]), 860n * TOKEN);
});

test('LI-01 an app that calls rarely gets no lease', async () => {
  const { limiter, counted, clock } = startProcess();
  const appId = newAppId();
  await fillOnce(appId, 1_000);
  for (let count = 0; count < 12; count += 1) {
    await limiter.take(appId, LIMITS);
    clock.moveOn(350);
    assert.deepEqual(await leasesOf(appId), []);
  }
  assert.equal(counted.statements, 12);
});

test('LI-01 a bucket less than half full leases no tokens', async () => {
  const { limiter } = startProcess();
  const appId = newAppId();
  await fillOnce(appId, 499);
  await takeInTurn(limiter, appId, 30);
  assert.deepEqual(await leasesOf(appId), []);
  assert.equal(await unitsOf(appId), 469n * TOKEN);
});

test('LI-01 a process leases at most a tenth of the burst', async () => {
  const processes = Array.from({ length: 6 }, () => startProcess());
  const appId = newAppId();
  await fillOnce(appId, 1_000);
  let held = 0;
  for (const { limiter } of processes) {
    await takeAtOnce(limiter, appId, 40);
    const leases = await leasesOf(appId);
    held = leases.reduce((sum, tokens) => sum + tokens, 0);
    assert.ok(Math.max(...leases) <= 100 && held <= 500, `${String(leases)} are leased`);
  }
  assert.ok(held > 100, `${held} are leased`);
  const left = await leftAfter(
    appId,
    processes.map(({ limiter }) => limiter),
  );
  assert.equal(left, 760n * TOKEN);
});

test('LI-01 unused leased tokens return a second later', async () => {
  const { limiter, clock, appId } = await busyApp();
  clock.moveOn(999);
  assert.ok((await unitsOf(appId)) < 960n * TOKEN);
  clock.moveOn(1);
  await waitUntil('the lease is given back', async () => (await unitsOf(appId)) === 960n * TOKEN);
  assert.deepEqual(await leasesOf(appId), []);
  assert.ok(limiter.take(appId, LIMITS) instanceof Promise, 'a returned token is not spent again');
  await limiter.stop();
});

test('LI-01 an app that calls less gets a smaller lease', async () => {
  const { limiter, clock } = startProcess();
  const appId = newAppId();
  await fillOnce(appId, 1_000);
  await takeAtOnce(limiter, appId, 90);
  for (let count = 0; count < 30; count += 1) {
    clock.moveOn(100);
    await limiter.take(appId, LIMITS);
  }
  await waitUntil('the lease is small', async () => ((await leasesOf(appId))[0] ?? 0) <= 10);
  assert.equal(await leftAfter(appId, [limiter]), 880n * TOKEN);
});

test('LI-01 the reported remainder grows with time beside a lease', async () => {
  const { limiter, clock } = startProcess();
  const appId = newAppId();
  await fillOnce(appId, 1_000);
  await takeInTurn(limiter, appId, 40);
  const told = await limiter.take(appId, LIMITS);
  assert.equal(told.tokensLeft, 959);
  clock.moveOn(400);
  assert.equal((await limiter.take(appId, { ...LIMITS })).tokensLeft, 958, 'not a whole token yet');
  const fast = { ratePerMinute: 6_000, rateBurst: 1_000 };
  await takeInTurn(limiter, appId, 2, fast);
  clock.moveOn(100);
  assert.equal((await limiter.take(appId, fast)).tokensLeft, 965, 'ten more, minus this one');
  clock.moveOn(480);
  const { tokensLeft } = await limiter.take(appId, fast);
  assert.ok(tokensLeft < 1_000, `${tokensLeft} are no more than the burst minus this one`);
  await limiter.stop();
});

test('LI-01 a dead process’s lease is spent after three seconds', async () => {
  const { appId } = await busyApp(); // This process is never heard of again.
  const [dead = 0] = await leasesOf(appId);
  // The clock stands still, so that the lease does not end while a busy machine gets this far.
  await sql(database)`update limits.buckets set units = ${990n * TOKEN}, refilled_at_us = refilled_at_us - 3600000000
    where app_id = ${appId}`;
  const { limiter } = startProcess();
  const [answer] = await takeInTurn(limiter, appId, 1);
  assert.deepEqual(await leasesOf(appId), [dead], 'it did not end in the hour by which this bucket was ahead');
  assert.equal(answer?.tokensLeft, 1_000 - dead - 1);
  await database.owner.query(
    `update limits.token_leases set until_us = (select refilled_at_us from limits.buckets b where b.app_id = $1)
     where app_id = $1`,
    [appId],
  );
  await takeInTurn(limiter, appId, 1);
  assert.deepEqual(await leasesOf(appId), []);
});

test('LI-01 a bucket fills to the burst less the lease', async () => {
  const appId = newAppId();
  const begunMs = performance.now();
  /**
   * Asserts what is left in the bucket: it gets three tokens a second, and holds at most this many and what comes while
   * the test runs.
   */
  const assertLeft = async (ahead: number, least: number): Promise<void> => {
    const asked = { bucket: appId, perMinute: 180, burst: 100, wanted: 0, kept: 0, returned: 0, target: ahead };
    const [row] = await leaseTokens(pool, randomUUID(), [asked]);
    assert.ok(row !== undefined && row.leased === ahead);
    const most = least + (3 * (performance.now() - begunMs)) / 1_000;
    assert.ok(row.tokens_left >= least && row.tokens_left <= most, `${row.tokens_left}, from ${least} to ${most}`);
  };
  await assertLeft(10, 90);
  await passSeconds(appId, 1);
  await assertLeft(0, 90);
  await passSeconds(appId, 3); // It was out for three of the four.
  await assertLeft(0, 93);
});

test('LI-01 a version without leases leaves room for them', async () => {
  const appId = newAppId();
  const bucket = { bucket: appId, perMinute: 60, burst: 100 };
  await leaseTokens(pool, randomUUID(), [{ ...bucket, wanted: 0, kept: 0, returned: 0, target: 10 }]);
  await passSeconds(appId, 1);
  const [row] = await takeTokens(pool, [{ ...bucket, wanted: 5 }]);
  assert.deepEqual([row?.granted, row?.tokens_left, row?.wait_ms], [5, 85, 0]);
  assert.deepEqual(await leasesOf(appId), [10]);
});

test('LI-01 a lease the database ended is spent no further', async () => {
  const { limiter, appId, clock } = await busyApp();
  await sql(database)`delete from limits.token_leases where app_id = ${appId}`;
  await fillOnce(appId, 3);
  clock.moveOn(1_000);
  assert.equal(await takeAtOnce(limiter, appId, 30), 3);
});

test('LI-01 calls on an empty bucket use their process’s lease', async () => {
  const { limiter, appId, clock } = await busyApp();
  await fillOnce(appId, 0);
  clock.moveOn(1_000); // It may be spent again once the database has said that it is still there.
  const [held = 0] = await leasesOf(appId);
  const served = await takeAtOnce(limiter, appId, 100);
  assert.ok(served > 0 && served <= held, `${served} of ${held}`);
});

test('LI-01 a limit change applies to leases at once', async () => {
  const { limiter, appId } = await busyApp();
  const smaller = { ratePerMinute: 60, rateBurst: 5 };
  const answers = await takeInTurn(limiter, appId, 8, smaller);
  assert.deepEqual(
    answers.map(({ isTaken, tokensLeft }) => (isTaken ? tokensLeft : 'refused')),
    [4, 3, 2, 1, 0, 'refused', 'refused', 'refused'],
  );
  const larger = { ratePerMinute: 1_000_000, rateBurst: 100_000 };
  await setBucket(appId, 0, '-1 second');
  assert.equal((await limiter.take(appId, larger)).isTaken, true);
});

test('LI-01 a renewal that fails costs no call its answer', async () => {
  const clock = stoppedClock();
  let isBroken = false;
  const query = (...args: Parameters<Pool['query']>): unknown =>
    isBroken ? Promise.reject(new Error('gone')) : pool.query(...args);
  const limiter = createRateLimiter({ query } as unknown as Pool, clock);
  const appId = newAppId();
  await fillOnce(appId, 1_000);
  await takeAtOnce(limiter, appId, 60);
  isBroken = true;
  clock.moveOn(600);
  const answers = await takeInTurn(limiter, appId, 20);
  assert.ok(answers.every(({ isTaken }) => isTaken));
  isBroken = false;
  assert.equal(await leftAfter(appId, [limiter]), 920n * TOKEN);
});
