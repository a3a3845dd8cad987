// A caller of chat completions who can leave at any moment, on a connection of its own.
import { type IncomingMessage, request } from 'node:http';
import { COMPLETIONS } from './client.ts';
import { waitUntil } from './wait-until.ts';

export interface OpenChat {
  /** Resolves with the answer's head, rejects when the connection ends before it. */
  readonly head: Promise<IncomingMessage>;
  /** What has been read so far. */
  readonly text: () => string;
  /** Waits until this has been read. */
  readonly read: (part: string) => Promise<void>;
  readonly isConnected: () => boolean;
  /** Breaks the connection off. */
  readonly leave: () => void;
  /** Resolves when either side has ended the connection. */
  readonly closed: Promise<void>;
}

interface OpenOptions {
  readonly url: string;
  readonly key: string;
  readonly user: string;
  readonly body: string;
  readonly correlationId?: string;
  /** The body is declared to be longer than what is sent of it. */
  readonly missingBytes?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export function openChat({
  url,
  key,
  user,
  body,
  correlationId,
  missingBytes = 0,
  headers = {},
}: OpenOptions): OpenChat {
  let text = '';
  const sent = request(url + COMPLETIONS, {
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
      response.on('error', () => {}); // Cut off: the test looks at what has come.
    },
    () => {},
  );
  sent.on('error', () => {}); // Told by `head` where that is still to come.
  const closed = new Promise<void>((resolve) => {
    sent.once('close', resolve);
  });
  if (missingBytes > 0) sent.write(body);
  else sent.end(body);
  return {
    head,
    text: () => text,
    read: async (part) => {
      await waitUntil(`the caller reads ${part}`, () => text.includes(part));
    },
    isConnected: () => sent.socket?.connecting === false,
    leave: () => sent.destroy(),
    closed,
  };
}
