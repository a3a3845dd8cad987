import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHttpServer } from '#http/server.ts';
import { createUnderWay } from '#http/under-way.ts';
import { createLog } from '#kernel/log.ts';

type Options = Parameters<typeof createHttpServer>[0];

test('CC-11 nothing of the server ends an answer that takes its time; a request has to come soon', () => {
  const server = createHttpServer({
    dataPlane: {} as Options['dataPlane'],
    planes: { pages: new Map() } as unknown as Options['planes'],
    metrics: {} as Options['metrics'],
    isReady: async () => true,
    log: createLog('silent'),
    underWay: createUnderWay(),
  });
  // Of a socket on which nothing moves: a model may think for a quarter of an hour.
  assert.equal(server.timeout, 0);
  // Of the request alone, its headers and all of it.
  assert.deepEqual([server.headersTimeout, server.requestTimeout], [10_000, 30_000]);
  // Between two requests.
  assert.equal(server.keepAliveTimeout, 75_000);
});
