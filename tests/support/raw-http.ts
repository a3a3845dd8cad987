import { connect, type Socket } from 'node:net';

/** An answer as it came over the wire. */
export interface RawReply {
  readonly status: number;
  /** The header values, by lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  readonly text: string;
}

/** A separate connection, for bytes that no HTTP client would send. */
export type RawConnection = ReturnType<typeof openRaw>;

export function openRaw(url: string) {
  const { hostname, port } = new URL(url);
  const socket: Socket = connect(Number(port), hostname);
  let text = '';
  const watchers = new Set<() => void>();
  const { promise: closed, resolve } = Promise.withResolvers<string>();
  socket.setEncoding('latin1');
  socket.on('data', (part) => {
    text += String(part);
    for (const watch of watchers) watch();
  });
  socket.on('error', () => {}); // A reset. `close` follows, and the data before it stays.
  socket.on('close', () => resolve(text));
  return {
    write: (bytes: string | Buffer) => void socket.write(bytes),
    /** Resolves once the data so far satisfies `isEnough` or the other side has closed the connection. */
    until: async (isEnough: (text: string) => boolean) => {
      const { promise: enough, resolve: found } = Promise.withResolvers<string>();
      const watch = () => {
        if (isEnough(text)) found(text);
      };
      watchers.add(watch);
      watch();
      return Promise.race([enough, closed]).finally(() => watchers.delete(watch));
    },
    /** Resolves to everything that arrived, once the other side has closed the connection. */
    closed,
    close: () => socket.destroy(),
  };
}

/** Sends the bytes and returns the answer. The connection must end after it. */
export async function exchangeRaw(url: string, bytes: string | Buffer): Promise<RawReply> {
  const connection = openRaw(url);
  connection.write(bytes);
  return parseRaw(await connection.closed);
}

/** The same, but leaves as soon as the answer is whole, by its length: after a refused body the connection stays open for a while. */
export async function askRaw(url: string, bytes: string | Buffer): Promise<RawReply> {
  const connection = openRaw(url);
  connection.write(bytes);
  const text = await connection.until((so) => {
    if (!so.includes('\r\n\r\n')) return false;
    const { headers, body } = parseRaw(so);
    return headers.has('content-length') && body.length >= Number(headers.get('content-length'));
  });
  connection.close();
  return parseRaw(text);
}

export function parseRaw(text: string): RawReply {
  const end = text.indexOf('\r\n\r\n');
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const status = /^HTTP\/1\.1 (\d{3})/.exec(first)?.[1];
  if (end === -1 || status === undefined) throw new Error(`This is not an HTTP answer: ${JSON.stringify(text)}.`);
  return { status: Number(status), headers, body: text.slice(end + 4), text };
}
