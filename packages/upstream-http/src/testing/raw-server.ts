// An upstream at the level of sockets: the test writes every byte of its responses and decides when connections end.
import { once } from 'node:events';
import { type AddressInfo, createServer as createPlain, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { createServer as createTls, type TlsOptions } from 'node:tls';
import { watchClientSockets } from './client-sockets.ts';
import { waitUntil } from './wait-until.ts';

export interface RawRequest {
  /** The head and the body as they came. */
  readonly text: string;
  /** The number of the connection it came on, from 0. */
  readonly connection: number;
  readonly socket: Socket;
}

export interface RawServer {
  readonly url: URL;
  /** All complete requests so far. */
  readonly requests: readonly RawRequest[];
  /** How many connections there have been. */
  readonly connections: () => number;
  /** The connections that are open. */
  readonly sockets: () => readonly Socket[];
  /** The client's side of all connections that this process has opened since. */
  readonly clients: readonly Socket[];
  /** Waits for so many requests, and until the client has read all that was written to it. Not over TLS. */
  readonly heard: (requests?: number) => Promise<void>;
}

interface RawServerOptions {
  readonly t: TestContext;
  /** This is called with each complete request. */
  readonly respond: (request: RawRequest) => void;
  /** This is called as soon as a connection is open. */
  readonly onConnection?: (socket: Socket) => void;
  readonly tls?: TlsOptions;
  /** The address that the server listens at. It is 127.0.0.1 unless given. */
  readonly host?: string;
}

/** Listens on a free port until the test ends. */
export async function startRawServer(options: RawServerOptions): Promise<RawServer> {
  const { t, respond, onConnection, tls, host = '127.0.0.1' } = options;
  const clients = watchClientSockets(t);
  const requests: RawRequest[] = [];
  const open = new Set<Socket>();
  let connections = 0;

  const serve = (socket: Socket): void => {
    const connection = connections;
    connections += 1;
    open.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => {}); // The client may reset the connection. `close` follows.
    socket.on('close', () => open.delete(socket));
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      for (let length = lengthOf(text); length !== undefined && text.length >= length; length = lengthOf(text)) {
        const request = { text: text.slice(0, length), connection, socket };
        text = text.slice(length);
        requests.push(request);
        respond(request);
      }
    });
    onConnection?.(socket);
  };

  const server: Server = tls === undefined ? createPlain(serve) : createTls(tls, serve);
  server.on('tlsClientError', () => {}); // A client that does not trust the certificate leaves.
  server.listen(0, host);
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  const name = host.includes(':') ? `[${host}]` : host;
  const url = new URL(`${tls === undefined ? 'http' : 'https'}://${name}:${port}/v1/chat/completions`);
  const isHeard = ({ remotePort, bytesWritten }: Socket): boolean => {
    const client = clients.find(({ localPort }) => localPort === remotePort);
    return client === undefined || client.bytesRead === bytesWritten; // One that has left hears nothing any more.
  };
  const heard = (least = 1): Promise<void> =>
    waitUntil('the client has read it', () => requests.length >= least && [...open].every(isHeard)).then(() => {});
  return { url, requests, connections: () => connections, sockets: () => [...open], clients, heard };
}

/** The length of the first request in `text`; undefined until its head is complete. */
function lengthOf(text: string): number | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  return end + 4 + Number(/\r\ncontent-length: (\d+)\r\n/.exec(text)?.[1]);
}

/** A whole response with this body. */
export function responseBytes(body: string, headers = ''): string {
  return `HTTP/1.1 200 OK\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
