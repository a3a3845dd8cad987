import type { IncomingMessage, Server } from 'node:http';
import { duplexPair } from 'node:stream';
import { request as openRequest } from '#kernel/node-http.ts';

/** A request that this process sends to its own server. */
interface OwnCall {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Aborts when nobody waits for the answer any more. The server then sees a caller who has left. */
  readonly signal: AbortSignal;
}

export interface OwnAnswer {
  readonly status: number;
  /** Names and values in turn, as they were sent. */
  readonly headers: readonly string[];
  /** At most the first `TEXT_BYTES_MAX` of the body. All of it was received. */
  readonly text: string;
  readonly isCut: boolean;
  /** The last bytes of the body, at most `END_BYTES_MAX`: a stream says at its end what it was charged. */
  readonly end: string;
}

/** Sends real HTTP requests to the server of this process. */
export interface OwnCalls {
  readonly post: (call: OwnCall) => Promise<OwnAnswer>;
  /** It is called once, before the first request. */
  readonly attach: (server: Server) => void;
}

const TEXT_BYTES_MAX = 65_536;
const END_BYTES_MAX = 1_024;

/**
 * A request goes through a pair of streams in memory instead of a socket, and is otherwise like any other: Node's client writes
 * it, and the server parses and answers it. So it works with several processes behind one port, with any address that the
 * service listens on, and nothing is sent to any network.
 */
export function createOwnCalls(): OwnCalls {
  let server: Server | undefined;
  return {
    attach: (own) => void (server = own),
    post: ({ path, headers, body, signal }) =>
      new Promise((resolve, reject) => {
        const [ours, theirs] = duplexPair();
        server?.emit('connection', theirs);
        const all = { ...headers, host: 'localhost', 'content-length': String(Buffer.byteLength(body)) };
        const request = openRequest({
          method: 'POST',
          path,
          headers: all,
          signal,
          createConnection: () => ours,
        });
        request.on('response', (response) => void readAnswer(response).then(resolve, reject));
        request.on('error', (fault) => {
          ours.destroy();
          reject(fault);
        });
        request.end(body);
      }),
  };
}

async function readAnswer(response: IncomingMessage): Promise<OwnAnswer> {
  const kept: Buffer[] = [];
  let end = Buffer.alloc(0);
  let bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    if (bytes < TEXT_BYTES_MAX) kept.push(part.subarray(0, TEXT_BYTES_MAX - bytes));
    bytes += part.length;
    end = Buffer.concat([end, part.subarray(-END_BYTES_MAX)]).subarray(-END_BYTES_MAX);
  }
  const text = Buffer.concat(kept).toString('utf8');
  return {
    status: response.statusCode ?? 0,
    headers: response.rawHeaders,
    text,
    isCut: bytes > TEXT_BYTES_MAX,
    end: end.toString('utf8'),
  };
}
