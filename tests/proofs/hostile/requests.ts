import { createRandom, type Random } from '../histories/random.ts';
import { COMPLETIONS, type HttpRequest } from '../../support/client.ts';
import { hostileBody, hostileCall } from './chat-body.ts';
import { brokenFraming, chunked } from './framing.ts';
import { anyTarget, type Callers, goodHeaders, headerSoup } from './hostile-head.ts';

/** The end users of the run. `steady` never leaves halfway, so its charges are known to the micro. */
export const STEADY = 'steady';
export const LEAVER = 'leaver';

/** The bytes for one connection. */
export interface HostileRequest {
  readonly kind: 'chat' | 'http' | 'route' | 'headers' | 'framing' | 'spoilt' | 'pipelined' | 'left';
  readonly bytes: Buffer;
  /** One for each request in the bytes that can be read as one: an answer to HEAD has no body. */
  readonly methods: readonly string[];
  /**
   * With `answered`, each request gets an answer, or the last one ends the connection. With `unsure`, the request may
   * be incomplete.
   */
  readonly ending: 'answered' | 'unsure' | 'left';
  /** For `left`, this is the number of bytes that are sent. */
  readonly bytesSent: number;
  /** The correlation id that must be echoed. It is set if a well-formed one is sent. */
  readonly correlationId: string | undefined;
  /** Where a call goes whose body alone is hostile. */
  readonly target?: string;
  /** The same request for Node's own client, if that client sends it. */
  readonly http?: HttpRequest;
}

type Keys = Pick<Callers, 'liveKey' | 'testKey'>;

/** The request with this number. A seed gives the same requests on every machine, except for the keys. */
export function hostileRequest(seed: number, index: number, keys: Keys): HostileRequest {
  const random = createRandom(seed, `request ${index}`);
  const steady = { ...keys, user: STEADY };
  const leaver = { ...keys, user: LEAVER };
  const roll = random.fraction();
  if (roll < 0.35) return chat(random, steady);
  if (roll < 0.45) return http(random, steady);
  if (roll < 0.58) return route(random, steady);
  if (roll < 0.72) return soup(random, leaver);
  if (roll < 0.84) return framing(random, leaver);
  if (roll < 0.91) return spoilt(random, leaver);
  if (roll < 0.95) return pipelined(random, leaver); // A caller whose connection is reset may not learn of its charge.
  const { bytes, methods } = chat(random, leaver);
  const bytesSent = random.chance(0.5) ? bytes.length : random.whole(0, bytes.length);
  return { kind: 'left', bytes, methods, ending: 'left', bytesSent, correlationId: undefined };
}

/** A request in which only the body is hostile. */
function chat(random: Random, callers: Callers): HostileRequest {
  const { target, body } = hostileCall(random);
  const correlationId = random.chance(0.5) ? `c-${random.whole(0, 1e9)}` : undefined;
  const lines = goodHeaders(random, callers);
  if (correlationId !== undefined) lines.push(`x-correlation-id: ${correlationId}`);
  const isChunked = random.chance(0.3);
  lines.push(isChunked ? 'transfer-encoding: chunked' : `content-length: ${body.length}`);
  const head = headOf('POST', target, lines);
  const bytes = Buffer.concat([head, isChunked ? chunked(random, body) : body]);
  return { ...known('chat', bytes, ['POST']), correlationId, target };
}

/** The same, sent by an HTTP client. */
function http(random: Random, { liveKey, user }: Callers): HostileRequest {
  const { target, body } = hostileCall(random);
  const correlationId = `h-${random.whole(0, 1e9)}`;
  const headers = { authorization: `Bearer ${liveKey}`, 'x-service-user': user, 'x-correlation-id': correlationId };
  const request = { method: 'POST', path: target, headers, body: random.chance(0.5) ? body : [body] };
  return { ...known('http', body, ['POST']), correlationId, target, http: request };
}

function route(random: Random, callers: Callers): HostileRequest {
  const { method, bytes } = routeBytes(random, callers);
  return known('route', bytes, [method]);
}

function routeBytes(random: Random, callers: Callers): { readonly method: string; readonly bytes: Buffer } {
  const { method, target } = anyTarget(random);
  const lines = goodHeaders(random, callers);
  const body = random.chance(0.3) ? hostileBody(random).subarray(0, 4_096) : Buffer.alloc(0);
  if (body.length > 0 || random.chance(0.1)) lines.push(`content-length: ${body.length}`);
  return { method, bytes: Buffer.concat([headOf(method, target, lines), body]) };
}

function soup(random: Random, callers: Callers): HostileRequest {
  const isChat = random.chance(0.4);
  const { method, target } = isChat ? { method: 'POST', target: COMPLETIONS } : anyTarget(random);
  const lines = [...headerSoup(random, callers)];
  const body = isChat ? hostileBody(random) : Buffer.alloc(0);
  if (body.length > 0) lines.push(`content-length: ${body.length}`);
  const bytes = Buffer.concat([headOf(method, target, lines, versionOf(random)), body]);
  return unsure('headers', bytes, [method]);
}

function framing(random: Random, callers: Callers): HostileRequest {
  const framed = brokenFraming(random, hostileBody(random));
  const method = random.chance(0.8) ? 'POST' : random.pick(['GET', 'HEAD', 'CONNECT', 'PRI', 'post', 'POST POST', '']);
  const head = headOf(method, COMPLETIONS, [...goodHeaders(random, callers), ...framed.lines], versionOf(random));
  return unsure('framing', Buffer.concat([head, framed.body]), [method]);
}

/** A valid request with some bytes changed, cut, doubled or inserted in front. */
function spoilt(random: Random, callers: Callers): HostileRequest {
  const good = random.chance(0.5) ? chat(random, callers).bytes : routeBytes(random, callers).bytes;
  let bytes = Buffer.from(good.subarray(0, 100_000));
  for (let count = random.whole(1, 4); count > 0; count -= 1) {
    const at = random.whole(0, Math.min(bytes.length, random.pick([300, 100_000])));
    const before = bytes.subarray(0, at);
    const act = random.whole(0, 3);
    if (act === 0) bytes = Buffer.concat([before, Buffer.from([random.whole(0, 255)]), bytes.subarray(at + 1)]);
    else if (act === 1) bytes = Buffer.from(before);
    else if (act === 2) bytes = Buffer.concat([before, bytes.subarray(Math.max(0, at - random.whole(1, 50)))]);
    else bytes = Buffer.concat([Buffer.from(random.pick(['\r\n', '\0', ' ', 'GET ', '\x16\x03\x01'])), bytes]);
  }
  return unsure('spoilt', bytes, []);
}

/** Sends several requests at once, without waiting for answers. */
function pipelined(random: Random, callers: Callers): HostileRequest {
  const all = Array.from({ length: random.whole(2, 6) }, () => {
    if (random.chance(0.7)) return routeBytes(random, callers);
    return { method: 'POST', bytes: chat(random, callers).bytes };
  });
  const bytes = Buffer.concat(all.map((one) => one.bytes));
  return known(
    'pipelined',
    bytes,
    all.map(({ method }) => method),
  );
}

function versionOf(random: Random): string {
  return random.chance(0.85)
    ? 'HTTP/1.1'
    : random.pick(['HTTP/1.0', 'HTTP/2.0', 'HTTP/1.2', 'http/1.1', 'HTTP/0.9', '']);
}

/** Header texts become bytes as a hostile client writes them: one byte for each character. */
function headOf(method: string, target: string, lines: readonly string[], version = 'HTTP/1.1'): Buffer {
  return Buffer.from(`${[`${method} ${target} ${version}`, ...lines].join('\r\n')}\r\n\r\n`, 'latin1');
}

function known(kind: HostileRequest['kind'], bytes: Buffer, methods: readonly string[]): HostileRequest {
  return { kind, bytes, methods, ending: 'answered', bytesSent: bytes.length, correlationId: undefined };
}

function unsure(kind: HostileRequest['kind'], bytes: Buffer, methods: readonly string[]): HostileRequest {
  return { ...known(kind, bytes, methods), ending: 'unsure' };
}
