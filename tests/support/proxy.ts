import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** An HTTP proxy that opens every tunnel, and leads all of them to one upstream. */
export async function startProxy(upstream: () => { readonly baseUrl: string }) {
  const heads: string[] = [];
  const open = new Set<Socket>();
  const server = createServer((caller) => {
    open.add(caller);
    caller.on('error', () => {});
    caller.once('data', (head) => {
      heads.push(head.toString('latin1'));
      const { hostname, port } = new URL(upstream().baseUrl);
      const onward = connect(Number(port), hostname);
      open.add(onward);
      onward.on('error', () => {});
      caller.write('HTTP/1.1 200 Connection established\r\n\r\n');
      caller.pipe(onward).pipe(caller);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    /** What it was asked. */
    heads,
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
