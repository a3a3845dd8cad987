// A provider at the level of sockets: every byte of its answers, and the end of each connection, is the test's.
import { once } from 'node:events';
import { type AddressInfo, createServer as createPlain, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { createServer as createTls, type TlsOptions } from 'node:tls';

export interface RawRequest {
  /** Head and body, as they came. */
  readonly text: string;
  /** Which connection it came on: 0 is the first. */
  readonly connection: number;
  readonly socket: Socket;
}

export interface RawProvider {
  readonly url: URL;
  /** All that came whole. */
  readonly requests: readonly RawRequest[];
  /** How many connections there have been. */
  readonly connections: () => number;
  /** Those that are open. */
  readonly sockets: () => readonly Socket[];
}

export interface RawProviderOptions {
  readonly t: TestContext;
  /** Called with each whole request. */
  readonly answer: (request: RawRequest) => void;
  /** Called as soon as there is a connection. */
  readonly onConnection?: (socket: Socket) => void;
  readonly tls?: TlsOptions;
  /** 127.0.0.1 unless given. */
  readonly host?: string;
}

/** Listens on a free port until the test ends. */
export async function startRawProvider(options: RawProviderOptions): Promise<RawProvider> {
  const { t, answer, onConnection, tls, host = '127.0.0.1' } = options;
  const requests: RawRequest[] = [];
  const open = new Set<Socket>();
  let connections = 0;

  const serve = (socket: Socket): void => {
    const connection = connections;
    connections += 1;
    open.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => {}); // The other side may break it off: `close` tells.
    socket.on('close', () => open.delete(socket));
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      for (let length = lengthOf(text); length !== undefined && text.length >= length; length = lengthOf(text)) {
        const request = { text: text.slice(0, length), connection, socket };
        text = text.slice(length);
        requests.push(request);
        answer(request);
      }
    });
    onConnection?.(socket);
  };

  const server: Server = tls === undefined ? createPlain(serve) : createTls(tls, serve);
  server.on('tlsClientError', () => {}); // Whoever does not trust the certificate leaves.
  server.listen(0, host);
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  const name = host.includes(':') ? `[${host}]` : host;
  const url = new URL(`${tls === undefined ? 'http' : 'https'}://${name}:${port}/v1/chat/completions`);
  return { url, requests, connections: () => connections, sockets: () => [...open] };
}

/** Of the request at the beginning of what has come; undefined while its head is not whole. */
function lengthOf(text: string): number | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  return end + 4 + Number(/\r\ncontent-length: (\d+)\r\n/.exec(text)?.[1]);
}

/** A whole answer with this body. */
export function answerBytes(body: string, headers = ''): string {
  return `HTTP/1.1 200 OK\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
