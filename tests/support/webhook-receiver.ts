import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request that an endpoint received. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly atMs: number;
}

/** The status of an answer, with headers if there are any. `stall` never answers. */
type Answer = number | 'stall' | { readonly status: number; readonly headers: Record<string, string> };

/** An endpoint that keeps what it receives, and answers by the path and how often that was called. */
export async function startReceiver(answer: (path: string, times: number, received: Received) => Answer = () => 200) {
  const received: Received[] = [];
  const at = (path: string) => received.filter((one) => one.path === path);
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('error', () => {});
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const path = request.url ?? '';
      const one = { path, headers: request.headers, body: Buffer.concat(parts), atMs: Date.now() };
      received.push(one);
      const said = answer(path, at(path).length, one);
      if (said === 'stall') return;
      const { status, headers } = typeof said === 'number' ? { status: said, headers: {} } : said;
      response.writeHead(status, headers).end('thank you');
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    /** Those of one path. */
    at,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

/** What a receiver decides about one delivery. */
type Verdict = 'accepted' | 'repeated' | 'bad signature' | 'stale';

const FRESH_SECONDS = 300;

/**
 * A receiver built only from the specification: parse, recompute over the raw bytes, compare in
 * constant time, and after that check the time and then the id.
 */
export function createVerifier(
  secret: string,
): (received: Pick<Received, 'headers' | 'body'>, nowMs: number) => Verdict {
  const seen = new Set<string>();
  return ({ headers, body }, nowMs) => {
    const elements = new Map(
      String(headers['x-service-signature'])
        .split(',')
        .map((element) => [element.slice(0, element.indexOf('=')), element.slice(element.indexOf('=') + 1)]),
    );
    const seconds = elements.get('t') ?? '';
    const expected = createHmac('sha256', Buffer.from(secret, 'utf8'))
      .update(Buffer.concat([Buffer.from(`${seconds}.`, 'utf8'), body]))
      .digest();
    const given = Buffer.from(elements.get('v1') ?? '', 'hex');
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 'bad signature';
    if (Math.abs(nowMs / 1_000 - Number(seconds)) > FRESH_SECONDS) return 'stale';
    const { id } = JSON.parse(body.toString('utf8')) as { id: string };
    if (seen.has(id)) return 'repeated';
    seen.add(id);
    return 'accepted';
  };
}
