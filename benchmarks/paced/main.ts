// Makes calls on a fixed schedule, also if earlier ones are still running. The time of a call runs from its moment in the
// schedule to its answer. Run by benchmarks/support/paced-load.ts, which gives the order as an argument and reads the result.
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { PacedOrder, PacedResult } from '../support/paced-load.ts';
import { type Connection, openConnection } from './connection.ts';

const order = JSON.parse(process.argv[2] ?? '{}') as PacedOrder;
const CONNECTIONS_MAX = 1_000;
const CONNECTIONS_AT_FIRST = 32;
/** Answers to calls under way at the end are waited for, and no longer. */
const LAST_ANSWER_MS_MAX = 5_000;

const url = new URL(order.url);
const requests = Array.from({ length: order.users }, (_, user) => requestOf(user));
const idle: Connection[] = [];
let opened = 0;
while (opened < CONNECTIONS_AT_FIRST) idle.push(open());

const everyMs = 1_000 / order.perSecond;
const count = Math.round(order.seconds * order.perSecond);
const tookMs: number[] = [];
let bad = 0;
const underWay = new Set<Promise<void>>();
const ticker = new Worker(new URL('ticker.ts', import.meta.url), { workerData: { everyMs, count } });
ticker.once('message', (startedAt: number) => {
  const firstAt = startedAt - performance.timeOrigin;
  ticker.on('message', (call: number) => {
    const made = make(call, firstAt + call * everyMs).finally(() => underWay.delete(made));
    underWay.add(made);
  });
});
await new Promise((resolve) => ticker.once('exit', resolve));
await Promise.race([Promise.all(underWay), sleep(LAST_ANSWER_MS_MAX)]);
tookMs.sort((left, right) => left - right);
const result: PacedResult = {
  calls: tookMs.length,
  bad: bad + underWay.size,
  p50: percentile(0.5),
  p99: percentile(0.99),
};
console.log(`RESULT ${JSON.stringify(result)}`);
process.exit();

async function make(call: number, dueAt: number): Promise<void> {
  if (idle.length === 0 && opened >= CONNECTIONS_MAX) {
    bad += 1; // What is measured can't keep up: the figures are void.
    return;
  }
  const connection = idle.pop() ?? open();
  const isRight = await connection.call(requests[call % requests.length] as Buffer);
  tookMs.push(performance.now() - dueAt);
  if (isRight) return void idle.push(connection);
  bad += 1;
  opened -= 1;
  connection.close();
}

function open(): Connection {
  opened += 1;
  return openConnection(url, order.expected);
}

function requestOf(user: number): Buffer {
  const headers = {
    host: url.host,
    'content-type': 'application/json',
    authorization: `Bearer ${order.keys[user % order.keys.length]}`,
    'x-service-user': `user-${user}`,
    ...order.headers,
    'content-length': String(Buffer.byteLength(order.body)),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${order.path} HTTP/1.1\r\n${lines.join('')}\r\n${order.body}`);
}

/** Micros. */
function percentile(share: number): number {
  const at = Math.min(tookMs.length - 1, Math.floor(share * tookMs.length));
  return Math.round((tookMs[at] ?? Number.NaN) * 1_000);
}
