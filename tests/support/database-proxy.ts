// A network that a test can cut, between a service and its database or between a caller and the service.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type DatabaseProxy = Awaited<ReturnType<typeof startDatabaseProxy>>;

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

/** Listens on a free port of 127.0.0.1 for connections to the database at that address. */
export async function startDatabaseProxy(databaseUrl: string) {
  const target = new URL(databaseUrl);
  const pairs = new Set<Pair>();
  let state: 'open' | 'silent' | 'resetting' = 'open';

  const listener = createServer((client) => {
    client.on('error', () => undefined);
    if (state === 'resetting') {
      client.resetAndDestroy();
      return;
    }
    const pair = { client, server: connect(Number(target.port), target.hostname) };
    pairs.add(pair);
    join(pair, () => pairs.delete(pair));
    if (state === 'silent') for (const socket of [pair.client, pair.server]) socket.pause();
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');

  const url = new URL(databaseUrl);
  url.port = String((listener.address() as AddressInfo).port);
  return {
    /** The database's own address, by way of this network. */
    url: url.href,
    /** Silently holds everything back. What was sent arrives when the network is back. */
    fallSilent: () => {
      state = 'silent';
      for (const { client, server } of pairs) for (const socket of [client, server]) socket.pause();
    },
    /** Connections are reset, new ones too. */
    reset: () => {
      state = 'resetting';
      for (const { client, server } of pairs) {
        client.resetAndDestroy();
        server.destroy();
      }
    },
    restore: () => {
      state = 'open';
      for (const { client, server } of pairs) for (const socket of [client, server]) socket.resume();
    },
    close: async () => {
      listener.close();
      for (const { client, server } of pairs) for (const socket of [client, server]) socket.destroy();
      await once(listener, 'close');
    },
  };
}

/** Forwards data in both directions, and the end of either side. */
function join({ client, server }: Pair, over: () => void): void {
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    from.on('data', (bytes) => void to.write(bytes));
    from.on('error', () => undefined);
    from.on('close', () => {
      to.end();
      over();
    });
  }
}
