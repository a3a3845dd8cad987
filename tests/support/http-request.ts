import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import type { Reply } from './client.ts';

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
  const body = objectOf(text);
  return { status: incoming.statusCode ?? 0, headers, text, body, error: objectOf(JSON.stringify(body['error'])) };
}

function objectOf(text: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
