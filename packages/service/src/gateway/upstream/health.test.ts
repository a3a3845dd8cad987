import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Health } from '#gateway/upstream/health.ts';

/** A breaker that three failures have opened at `atMs`. */
function opened(atMs: number, retryAfterMs?: number): Health {
  const health = new Health();
  for (let count = 0; count < 3; count += 1) {
    health.failed(atMs, health.begin(atMs), retryAfterMs === undefined ? {} : { retryAfterMs });
  }
  return health;
}

test('CC-16 one failure opens no breaker, three of three do', () => {
  const health = new Health();
  health.failed(0, false);
  health.failed(0, false);
  assert.deepEqual([health.state(), health.admits(0)], ['closed', true]);
  health.failed(0, false);
  assert.deepEqual([health.state(), health.admits(0)], ['open', false]);
});

test('CC-16 a breaker stays closed while most calls succeed', () => {
  const health = new Health();
  for (let count = 0; count < 100; count += 1) {
    health.succeeded(count, false);
    health.succeeded(count, false);
    health.failed(count, false);
  }
  assert.equal(health.state(), 'closed');
  for (let count = 0; count < 100; count += 1) health.failed(200, false);
  assert.equal(health.state(), 'open');
});

test('CC-16 failures older than a minute do not count', () => {
  const health = new Health();
  health.failed(0, false);
  health.failed(9_999, false);
  health.failed(60_000, false);
  assert.deepEqual([health.state(), health.counts(60_000).failures], ['closed', 1]);
  health.failed(60_000, false);
  health.failed(60_000, false);
  assert.equal(health.state(), 'open');
});

test('CC-16 an open breaker tests one call and closes on success', () => {
  const health = opened(0);
  assert.equal(health.admits(4_999), false);
  assert.equal(health.admits(5_000), true);
  const isTest = health.begin(5_000);
  assert.deepEqual([isTest, health.state(), health.admits(5_000)], [true, 'testing', false]);
  health.succeeded(6_000, isTest);
  assert.deepEqual([health.state(), health.admits(6_000)], ['closed', true]);
  health.failed(6_000, false);
  assert.equal(health.state(), 'closed', 'the failures before the pause are forgotten');
});

test('CC-16 each failed test doubles the pause, up to a minute', () => {
  const health = opened(0);
  let nowMs = 0;
  const pauses: number[] = [];
  for (let count = 0; count < 6; count += 1) {
    const pause = health.opensInMs(nowMs);
    pauses.push(pause);
    nowMs += pause;
    health.failed(nowMs, health.begin(nowMs));
  }
  assert.deepEqual(pauses, [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
});

test('CC-16 an inconclusive test lets the next call test', () => {
  const health = opened(0);
  const isTest = health.begin(5_000);
  assert.equal(health.admits(5_000), false);
  health.withdrawn(isTest);
  assert.deepEqual([health.state(), health.admits(5_000)], ['open', true]);
});

test('CC-16 a pause follows the provider’s wish, up to a minute', () => {
  assert.equal(opened(0, 20_000).opensInMs(0), 20_000);
  assert.equal(opened(0, 86_400_000).opensInMs(0), 60_000);
  assert.equal(opened(0, 1).opensInMs(0), 5_000);
});

test('CC-16 failures during an open breaker do not prolong its pause', () => {
  const health = opened(0);
  health.failed(1_000, health.begin(1_000));
  health.failed(2_000, health.begin(2_000));
  assert.equal(health.opensInMs(2_000), 3_000);
});

test('CC-16 the first-byte time is the last minute’s mean', () => {
  const health = new Health();
  assert.equal(health.counts(0).firstByteMs, undefined);
  health.began(0, 100);
  health.began(0, 300);
  assert.equal(health.counts(59_999).firstByteMs, 200);
  assert.equal(health.counts(60_000).firstByteMs, undefined);
});
