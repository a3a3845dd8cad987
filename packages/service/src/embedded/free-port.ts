import { createServer } from 'node:net';
import { EmbeddedPostgresError } from '#embedded/embedded-postgres-error.ts';
import { randomBytes } from '#kernel/random.ts';

// Below the range from which systems pick the near end of outgoing connections (32768 up on Linux, 49152 up elsewhere).
// Within it, such a connection could take the port while a dead server is being started again; even a client of ours that
// tries to reconnect could, by connecting to itself.
const PORT_MIN = 16_384;
const PORT_COUNT = 16_384;
const ATTEMPTS_MAX = 100;

/** A port on 127.0.0.1 that nobody listens on now, and that is unlikely to be taken while we use it. */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const port = PORT_MIN + (randomBytes(2).readUInt16LE() % PORT_COUNT);
    if (await isFree(port)) return port;
  }
  throw new EmbeddedPostgresError(`No free port on 127.0.0.1 after ${ATTEMPTS_MAX} attempts.`);
}

async function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const server = createServer();
  server.once('error', () => resolve(false));
  server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  return await promise;
}
