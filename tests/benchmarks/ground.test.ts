// Tests of what the benchmark's measurements rely on. A fault here would make the figures worthless.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { StreamsOrder, StreamsReport } from '../../benchmarks/streams/main.ts';
import { fillLedger } from '../../benchmarks/support/fill.ts';
import { startUpstream } from '../../benchmarks/support/ground.ts';
import { differenceFromPairs, startLedgerClient } from '../../benchmarks/support/ledger-client.ts';
import { findTools, foldersOf } from '../../benchmarks/support/tools.ts';
import { startWorker } from '../../benchmarks/support/worker.ts';
import { runWrk } from '../../benchmarks/support/wrk.ts';
import { nowMicros } from '../../benchmarks/upstream/tick.ts';
import { checkChanges, checkLedger } from '../../packages/service/src/ledger/check/check.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const tools = { nginx: undefined, wrk: undefined, taskset: undefined };
const appIds = ['app_first', 'app_second'];

describe('filled books', () => {
  let database: TestDatabase;
  before(async () => void (database = await createTestDatabase()));
  after(() => database.close());

  test('are right to the micro and count as checked', async () => {
    await fillLedger(database.owner, { appIds, wallets: 100, callsEach: 3 });
    const { wallets, entries, differences } = await checkLedger(database.owner);
    assert.deepEqual({ wallets, entries, differences }, { wallets: 100n, entries: 400n, differences: [] });
    assert.equal((await checkChanges(database.owner)).wallets, 0n);
  });
});

describe('the ledger in a separate process', () => {
  let database: TestDatabase;
  before(async () => void (database = await createTestDatabase()));
  after(() => database.close());

  test('charges wallets of all apps for the reported pairs', async () => {
    const directory = mkdtempSync(path.join(os.tmpdir(), 'purser-bench-test-'));
    await fillLedger(database.owner, { appIds, wallets: 10, callsEach: 0 });
    const bench = { ...database, pid: process.pid, pin: () => {} };
    const client = startLedgerClient({ tools, cores: '0', directory, database: bench, appIds });
    try {
      const pairs = await client.run({ act: 'pairs', wallets: 10, callers: 256, seconds: 0.1 });
      const commits = await client.run({ act: 'commits', wallets: 0, callers: 1, seconds: 0.1 });
      assert.ok(pairs.done >= 256 && commits.done > 0);
      assert.equal(await differenceFromPairs(bench, pairs.done), 0n);
      const { wallets, found } = await checkChanges(database.owner);
      assert.deepEqual({ wallets, found }, { wallets: 10n, found: 0n });
    } finally {
      await client.stop();
      rmSync(directory, { recursive: true, force: true });
    }
  });
});

test('the clock for chunks counts microseconds', () => {
  const [before, fromMs] = [nowMicros(), performance.now()];
  while (performance.now() < fromMs + 20);
  assert.ok(nowMicros() - before >= 19_000);
});

/** This is shorter than streams take to end by themselves. */
const TOLD_MS_MAX = 45_000;

test('paced streams carry their send time and end on request', { timeout: TOLD_MS_MAX }, async () => {
  const upstream = await startUpstream(tools, '0');
  const reader = startWorker<StreamsOrder, StreamsReport>({
    command: [process.execPath],
    script: new URL('../../benchmarks/streams/main.ts', import.meta.url),
    argument: {},
  });
  try {
    const body = '{"stream":true}';
    const request = `POST /paced/v1/chat/completions HTTP/1.1\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const opened = await reader.tell({ act: 'open', url: upstream.ready, requests: [request, request, request] });
    assert.deepEqual([opened.begun, opened.ended, opened.cut], [3, 0, 0]);
    const counted = await reader.tell({ act: 'count', seconds: 0.5 });
    assert.ok(counted.chunks > 0 && counted.ended === 0);
    assert.ok(counted.p50 >= 0 && counted.p50 <= counted.p99 && counted.p99 < 60_000_000, `${counted.p50} micros`);
    const over = await reader.tell({ act: 'end', upstreamUrl: upstream.ready });
    assert.deepEqual([over.ended, over.cut], [3, 0]);
  } finally {
    await reader.stop();
    await upstream.stop();
  }
});

const { wrk } = findTools(foldersOf(process.env['PATH'] ?? ''));

test('wrk calls for all users, each with its app’s key', {
  skip: wrk === undefined,
}, async () => {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers);
    request.resume().on('end', () => response.end('right'));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const directory = mkdtempSync(path.join(os.tmpdir(), 'purser-bench-test-'));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const load = { url, path: '/', body: '{}', keys: ['first', 'second', 'third'], users: 300_000, expected: 'right' };
  const options = { tools: { ...tools, wrk: wrk ?? '' }, cores: '0', directory, connections: 2, seconds: 1 };
  try {
    const { calls, bad } = await runWrk(load, { ...options, checks: true });
    assert.ok(calls > 0);
    assert.equal(bad, 0);
    const numbers = seen.map((headers) => Number(/^user-(\d+)$/.exec(String(headers['x-service-user']))?.[1]));
    assert.equal(new Set(numbers).size, numbers.length);
    assert.ok(numbers.every((number) => number < load.users));
    assert.deepEqual(
      seen.map(({ authorization }) => authorization),
      numbers.map((number) => `Bearer ${load.keys[number % 3]}`),
    );
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
