// The clients that are compared. Each sends one POST and gives back the text of the whole response.
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Agent, type Dispatcher, Pool } from 'undici';
import { createHttpClient } from '@purser/upstream-http/client.ts';

export const CLIENTS = ['floor', 'upstream-http', 'undici dispatch', 'undici request'] as const;
export type ClientName = (typeof CLIENTS)[number];

/** Sends `body` and resolves to the number of characters of the response's body. */
export type Post = (body: string) => Promise<number>;

interface PostOptions {
  readonly url: URL;
  readonly isStream: boolean;
  /** Bytes of a whole response, head included. Only the floor needs to know. */
  readonly responseBytes: number;
}

const HEADERS = {
  'content-type': 'application/json',
  'accept-encoding': 'identity',
  'user-agent': 'purser/1',
  authorization: 'Bearer sk-benchmark',
};
const TIMEOUT_MS = 60_000;

export function postBy(client: ClientName, options: PostOptions): Post {
  switch (client) {
    case 'floor':
      return floor(options);
    case 'upstream-http':
      return upstreamHttp(options);
    case 'undici dispatch':
      return undiciDispatch(options);
    case 'undici request':
      return undiciRequest(options);
  }
}

function upstreamHttp({ url, isStream }: PostOptions): Post {
  const endpoint = createHttpClient().endpoint(url, HEADERS);
  const { signal } = new AbortController();
  if (!isStream) {
    return async (body) => {
      const { text } = await endpoint.postBuffered(body, { timeoutMs: TIMEOUT_MS, bytesMax: 1_000_000 });
      return text?.length ?? 0;
    };
  }
  return async (body) => {
    const response = await endpoint.postStreamed(body, { silenceMsMax: TIMEOUT_MS, signal });
    return new Promise((resolve, reject) => {
      let characters = 0;
      const onText = (text: string): boolean => {
        characters += text.length;
        return true;
      };
      response.listen({ onText, onEnd: () => resolve(characters), onError: reject });
    });
  };
}

/** Uses undici as its documentation shows it. */
function undiciRequest({ url, isStream }: PostOptions): Post {
  const dispatcher = new Agent({ headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
  const open = (body: string) => dispatcher.request({ ...target(url), method: 'POST', headers: HEADERS, body });
  if (!isStream) return async (body) => (await (await open(body)).body.text()).length;
  return async (body) => {
    const response = await open(body);
    const decoder = new TextDecoder('utf-8', { fatal: true });
    let characters = 0;
    for await (const bytes of response.body) characters += decoder.decode(bytes as Buffer, { stream: true }).length;
    return characters;
  };
}

/**
 * Uses the lowest interface of undici, which makes no stream and no body object. That is the least that undici can
 * cost.
 */
function undiciDispatch({ url, isStream }: PostOptions): Post {
  const dispatcher = new Pool(url.origin, { headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
  const { path } = target(url);
  return (body) =>
    new Promise((resolve, reject) => {
      const decoder = new TextDecoder('utf-8', { fatal: true });
      const parts: Buffer[] = [];
      let characters = 0;
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart: () => {},
        onResponseStart: () => {},
        onResponseData: (_controller, bytes) => {
          if (isStream) characters += decoder.decode(bytes, { stream: true }).length;
          else parts.push(bytes);
        },
        onResponseEnd: () => resolve(isStream ? characters : decoder.decode(Buffer.concat(parts)).length),
        onResponseError: (_controller, error) => reject(error),
      };
      dispatcher.dispatch({ path, method: 'POST', headers: HEADERS, body }, handler);
    });
}

function target({ origin, pathname, search }: URL) {
  return { origin, path: pathname + search };
}

/** Writes a ready request and counts the bytes of the response, without reading them: no client can cost less. */
function floor({ url, responseBytes }: PostOptions): Post {
  const idle: Connection[] = [];
  return (body) => (idle.pop() ?? new Connection(url, responseBytes, (connection) => idle.push(connection))).post(body);
}

class Connection {
  readonly #socket: Socket;
  readonly #responseBytes: number;
  readonly #onFree: (connection: Connection) => void;
  readonly #head: string;
  #received = 0;
  #resolve: ((characters: number) => void) | undefined;

  constructor(url: URL, responseBytes: number, onFree: (connection: Connection) => void) {
    this.#responseBytes = responseBytes;
    this.#onFree = onFree;
    const lines = Object.entries(HEADERS).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#head = `POST ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\n${lines.join('')}content-length: `;
    const onread = {
      buffer: Buffer.allocUnsafeSlow(64 * 1024),
      callback: (bytes: number): true => {
        this.#read(bytes);
        return true;
      },
    };
    const options = { host: url.hostname, port: Number(url.port), onread };
    this.#socket = url.protocol === 'https:' ? connectTls(options) : connectPlain(options);
    this.#socket.setNoDelay(true);
  }

  post(body: string): Promise<number> {
    this.#received = 0;
    this.#socket.write(`${this.#head}${body.length}\r\n\r\n${body}`, 'latin1');
    return new Promise((resolve) => (this.#resolve = resolve));
  }

  #read(bytes: number): void {
    this.#received += bytes;
    if (this.#received < this.#responseBytes) return;
    this.#onFree(this);
    this.#resolve?.(this.#received);
  }
}
