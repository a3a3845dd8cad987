import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '#kernel/log.ts';
import { readMetrics } from '#kernel/metrics/metrics.ts';
import type { Sent } from '#telemetry/otlp-sender.ts';
import { createSpanQueue, WAITING_MAX } from '#telemetry/span-queue.ts';
import { waitUntil } from '../../../../tests/support/wait-until.ts';

const TAKEN: Sent = { result: 'taken' };
const AWAY: Sent = { result: 'again', reason: 'ECONNREFUSED' };

/** A queue over a collector whose answers the test chooses, with a clock that it moves. */
function stage() {
  let nowMs = 0;
  let answer = TAKEN;
  const bodies: string[] = [];
  const lines: string[] = [];
  const queue = createSpanQueue({
    sender: {
      send: (body) => {
        bodies.push(body.toString());
        return Promise.resolve(answer);
      },
      close: () => {},
    },
    encode: (spans) => Buffer.from(spans.map(({ name }) => name).join(' ')),
    log: createLog('info', { write: (line) => void lines.push((JSON.parse(line) as { msg: string }).msg) }),
    clock: { nowMs: () => nowMs },
    everyMs: 1,
  });
  return {
    queue,
    bodies,
    lines,
    add: (...names: readonly string[]) => queue.add(names.map((name) => ({ name }))),
    becomes: (next: Sent) => void (answer = next),
    pass: (ms: number) => void (nowMs += ms),
  };
}

function countOf(name: string): number {
  return readMetrics().find((metric) => metric.name === name)?.samples[0]?.[1] ?? 0;
}

test('OP-07 spans wait out a collector outage', async () => {
  const { queue, bodies, lines, add, becomes, pass } = stage();
  becomes(AWAY);
  add('a');
  await waitUntil('it was tried', () => bodies.length === 1);
  add('b');
  pass(250);
  await waitUntil('it was tried again', () => bodies.length === 2);
  assert.deepEqual(bodies, ['a', 'a b']);
  pass(499);
  becomes(TAKEN);
  const before = countOf('purser_spans_exported_total');
  pass(1);
  await waitUntil('they are sent', () => countOf('purser_spans_exported_total') - before === 2);
  assert.deepEqual(bodies, ['a', 'a b', 'a b'], 'each pause is twice as long as the one before');
  assert.deepEqual(lines, [
    'the collector takes no telemetry, and calls go on without',
    'the collector takes telemetry again',
  ]);
  await queue.stop();
});

test('OP-07 excess spans are dropped by whole calls and counted', async () => {
  const { queue, add, becomes } = stage();
  becomes(AWAY);
  const before = countOf('purser_spans_dropped_total');
  for (let count = 0; count < WAITING_MAX / 5; count += 1) add('a', 'b', 'c', 'd', 'e');
  assert.equal(countOf('purser_spans_waiting'), WAITING_MAX);
  add('f', 'g');
  assert.equal(countOf('purser_spans_dropped_total') - before, 2);
  await queue.stop();
});

test('OP-07 spans refused for good are dropped and counted', async () => {
  const { queue, bodies, lines, add, becomes } = stage();
  becomes({ result: 'refused', reason: 'status 400' });
  const before = countOf('purser_spans_dropped_total');
  add('a');
  await waitUntil('it was refused', () => countOf('purser_spans_dropped_total') - before === 1);
  becomes(TAKEN);
  add('b');
  await waitUntil('the next is sent', () => bodies.includes('b'));
  await queue.stop();
  assert.equal(lines.length, 2);
});

test('OP-07 a stop sends what waits', async () => {
  const { queue, bodies, add } = stage();
  add('last');
  await queue.stop();
  assert.deepEqual(bodies, ['last']);
});
