// A caller of chat completions that can leave at any moment, on a separate connection.
import { type IncomingMessage, request } from 'node:http';
import { COMPLETIONS } from './client.ts';
import { waitUntil } from './wait-until.ts';

export type OpenChat = ReturnType<typeof openChat>;

interface OpenOptions {
  /** That of chat completions unless given. */
  readonly path?: string;
  readonly url: string;
  readonly key: string;
  readonly user: string;
  readonly body: string;
  readonly correlationId?: string;
  /** Declares a longer body than it sends. */
  readonly missingBytes?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export function openChat({
  path = COMPLETIONS,
  url,
  key,
  user,
  body,
  correlationId,
  missingBytes = 0,
  headers = {},
}: OpenOptions) {
  let text = '';
  const sent = request(url + path, {
    method: 'POST',
    agent: false,
    headers: {
      authorization: `Bearer ${key}`,
      'x-service-user': user,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body) + missingBytes,
      ...(correlationId === undefined ? {} : { 'x-correlation-id': correlationId }),
      ...headers,
    },
  });
  const head = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve);
    sent.once('error', reject);
  });
  head.then(
    (response) => {
      response.setEncoding('utf8');
      response.on('data', (part: string) => void (text += part));
      response.on('error', () => {}); // Cut off. The test checks what has arrived.
    },
    () => {},
  );
  sent.on('error', () => {}); // `head` reports it if it is still pending.
  const closed = new Promise<void>((resolve) => {
    sent.once('close', resolve);
  });
  if (missingBytes > 0) sent.write(body);
  else sent.end(body);
  return {
    /** Resolves with the answer's head, or rejects if the connection ends before it. */
    head,
    /** What has been read so far. */
    text: () => text,
    /** Waits until this has been read. */
    read: async (part: string) => {
      await waitUntil(`the caller reads ${part}`, () => text.includes(part));
    },
    isConnected: () => sent.socket?.connecting === false,
    /** Breaks the connection off. */
    leave: () => sent.destroy(),
    /** Resolves when either side has ended the connection. */
    closed,
  };
}
