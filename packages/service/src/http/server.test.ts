import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClosing, createInFlight } from '#http/listener/closing.ts';
import { createHttpServer } from '#http/server.ts';
import { createLog } from '#kernel/log.ts';

type Options = Parameters<typeof createHttpServer>[0];

test('CC-11 no server timeout ends a slow answer', () => {
  const server = createHttpServer({
    dataPlane: { gateway: { wires: [] }, cellRoutes: [] } as unknown as Options['dataPlane'],
    openOthers: () => Promise.reject(new Error('Nobody asks for anything.')),
    processorWebhooks: undefined,
    metrics: {} as Options['metrics'],
    readiness: async () => undefined,
    echoToDoctor: async () => undefined,
    log: createLog('silent'),
    inFlight: createInFlight(),
    closing: createClosing(),
  });
  // The socket’s idle timeout: a model may think for a quarter of an hour.
  assert.equal(server.timeout, 0);
  // The request’s own timeouts, for its headers and for all of it.
  assert.deepEqual([server.headersTimeout, server.requestTimeout], [10_000, 30_000]);
  // The time between two requests.
  assert.equal(server.keepAliveTimeout, 75_000);
});
