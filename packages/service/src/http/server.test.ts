import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createClosing, createInFlight } from '#http/listener/closing.ts';
import { createHttpServer } from '#http/server.ts';
import { createLog, type Log } from '#kernel/log.ts';

type Options = Parameters<typeof createHttpServer>[0];

function serverWith(log: Log) {
  return createHttpServer({
    dataPlane: { gateway: { wires: [] }, cellRoutes: [] } as unknown as Options['dataPlane'],
    openOthers: () => Promise.reject(new Error('They cannot be loaded.')),
    processorWebhooks: undefined,
    metrics: {} as Options['metrics'],
    readiness: async () => undefined,
    echoToDoctor: async () => undefined,
    log,
    inFlight: createInFlight(),
    closing: createClosing(),
  });
}

test('ER-03 a page that cannot be loaded is a fault of no route of calls', async () => {
  const faults: unknown[] = [];
  const server = serverWith({ ...createLog('silent'), error: (fields: unknown) => void faults.push(fields) });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { status } = await fetch(`http://127.0.0.1:${port}/console`, { headers: { 'x-correlation-id': 'one' } });
  await new Promise((resolve) => server.close(resolve).closeAllConnections());
  assert.equal(status, 500);
  assert.partialDeepStrictEqual(faults, [{ correlationId: 'one', route: undefined }]);
});

test('CC-11 no server timeout ends a slow answer', () => {
  const server = serverWith(createLog('silent'));
  // The socket’s idle timeout: a model may think for a quarter of an hour.
  assert.equal(server.timeout, 0);
  // The request’s own timeouts, for its headers and for all of it.
  assert.deepEqual([server.headersTimeout, server.requestTimeout], [10_000, 30_000]);
  // The time between two requests.
  assert.equal(server.keepAliveTimeout, 75_000);
});
