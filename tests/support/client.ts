import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** One answer as a plain HTTP client sees it. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body if it is a JSON object. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly error: Readonly<Record<string, unknown>>;
}

export interface CallOptions {
  readonly url: string;
  readonly key?: string;
  readonly user?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly method?: string;
  readonly signal?: AbortSignal;
}

/** Sends a request. An object goes as JSON, a string or bytes as they are. */
export async function send(path: string, options: CallOptions): Promise<Reply> {
  const { url, key, user, headers, body, signal } = options;
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(url + path, {
    method: options.method ?? (body === undefined ? 'GET' : 'POST'),
    redirect: 'manual',
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(user === undefined ? {} : { 'x-service-user': user }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isRaw ? Buffer.from(body) : JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
  return replyOf(response, await response.text());
}

export const COMPLETIONS = '/v1/chat/completions';

/** A chat completion with one short message, other fields as given. */
export function chat(options: CallOptions, fields: Readonly<Record<string, unknown>> = {}): Promise<Reply> {
  const body = { model: 'large', messages: [{ role: 'user', content: 'Hello' }], ...fields };
  return send(COMPLETIONS, { body, ...options });
}

/** Repeats a call as often as it is told to come back, as clients do: on a busy machine, a cell may answer another one too late. */
export async function untilAnswered(call: () => Promise<Reply>): Promise<Reply> {
  const reply = await call();
  if (reply.status !== 429) return reply;
  await sleep(1_000 * Number(reply.headers.get('retry-after')));
  return untilAnswered(call);
}

export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body is sent with its length declared. An array is sent in chunks without a declared length. */
  readonly body?: string | Buffer | readonly Buffer[];
}

/** Sends what `fetch` refuses to send: a body with a GET, any method, any header. Uses a separate connection. */
export async function httpSend(url: string, { method, path, headers = {}, body }: HttpRequest): Promise<Reply> {
  const isWhole = typeof body === 'string' || Buffer.isBuffer(body);
  const framing = bodyHeaders(body, isWhole);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const { hostname, port } = new URL(url);
  const outgoing = httpRequest({ hostname, port, path, method, headers: { ...headers, ...framing }, agent: false });
  outgoing.on('response', resolve);
  outgoing.on('error', reject); // After an answer this no longer matters: the upload was cut short.
  if (isWhole) outgoing.end(body);
  else {
    for (const part of body ?? []) outgoing.write(part);
    outgoing.end();
  }
  return readReply(await promise);
}

function bodyHeaders(body: HttpRequest['body'], isWhole: boolean): Readonly<Record<string, string>> {
  if (body === undefined) return {};
  return isWhole
    ? { 'content-length': String(Buffer.byteLength(body as string | Buffer)) }
    : { 'transfer-encoding': 'chunked' };
}

async function readReply(incoming: IncomingMessage): Promise<Reply> {
  incoming.setEncoding('utf8');
  let text = '';
  incoming.on('data', (part) => {
    text += String(part);
  });
  await once(incoming, 'end');
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) headers.set(name, String(value));
  return replyOf({ status: incoming.statusCode ?? 0, headers }, text);
}

/** The answer with this head and this text. */
export function replyOf(head: Pick<Response, 'status' | 'headers'>, text: string): Reply {
  const body = objectOf(text);
  const { error } = body;
  return {
    status: head.status,
    headers: head.headers,
    text,
    body,
    error: typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {},
  };
}

function objectOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
