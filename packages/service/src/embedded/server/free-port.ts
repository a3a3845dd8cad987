import { createServer } from 'node:net';
import { EmbeddedPostgresError } from '#embedded/files/embedded-postgres-error.ts';
import { randomBytes } from '#kernel/crypto/random.ts';

// Below the range of ephemeral ports, from which systems choose the local end of outgoing connections (from 32768 on Linux,
// from 49152 elsewhere). Within that range, an outgoing connection could take the port while a dead server restarts. Even
// our own client could, by connecting to itself when it tries to reconnect.
const PORT_MIN = 16_384;
const PORT_COUNT = 16_384;
const ATTEMPTS_MAX = 100;

/** Finds a port on 127.0.0.1 that is free now and is unlikely to be taken by others later. */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const port = PORT_MIN + (randomBytes(2).readUInt16LE() % PORT_COUNT);
    if (await isFree(port)) return port;
  }
  throw new EmbeddedPostgresError(`No free port was found on 127.0.0.1 in ${ATTEMPTS_MAX} attempts.`);
}

/** Tries to listen on the port, which is the only reliable test. */
async function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const server = createServer();
  server.once('error', () => resolve(false));
  server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  return await promise;
}
