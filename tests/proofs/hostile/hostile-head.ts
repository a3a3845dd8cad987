import type { Random } from '../histories/random.ts';

/** The callers: the keys and end users that the service knows. */
export interface Callers {
  readonly liveKey: string;
  readonly testKey: string;
  readonly user: string;
}

const METHODS = [
  'GET',
  'GET',
  'GET',
  'POST',
  'HEAD',
  'OPTIONS',
  'PUT',
  'DELETE',
  'PATCH',
  'TRACE',
  'PROPFIND',
  'QUERY',
];

const ROUTES = [
  '/v1/models',
  '/balance',
  '/connect',
  '/usage/summary',
  '/healthz',
  '/readyz',
  '/metrics',
  '/v1/models/large',
  '/calls/00000000-0000-7000-8000-000000000000',
];

const PATHS = [
  ['/v1/chat/completions', '/v1/models', '/balance', '/connect', '/usage/summary', '/healthz', '/readyz', '/metrics'],
  [
    '/v1/models/large',
    '/v1/models/acme.large-1',
    '/v1/models/a%2Fb',
    '/v1/models/%',
    '/v1/models/%00',
    '/v1/models/%ff',
    '/calls/',
    '/calls/%ff',
    '/calls/00000000-0000-7000-8000-000000000000',
  ],
  [
    '/v1/models/../models',
    '/v1/models/__proto__',
    '/v1/models/toString',
    '/__proto__',
    '/constructor',
    '/',
    '//',
    '/.',
  ],
  ['//v1/models', '/v1//models', '/V1/MODELS', '/v1/models/', '/balance/', '/v1/completions', '/v1/responses', '*'],
  ['/../../etc/passwd', '/%2e%2e/%2e%2e/', '/v1/models;x=1', '/v1/models#x', '/v1/models/%E0%A4%A', '/\\', '/a\u00e9'],
  ['http://x/balance', 'https://x', 'http://', 'http://a@b/balance', 'HTTP://X/v1/models?', 'ftp://x/balance', 'x:80'],
].flat();

const QUERIES = [
  [
    '',
    '',
    '',
    '?',
    '?month=2026-01',
    '?month=',
    '?month=0000-00',
    '?month=0000-01',
    '?month=9999-12',
    '?month=2026-13',
  ],
  [
    '?month=2026-1',
    '?month=-1',
    '?month=99999-01',
    '?month=2026-02&month=x',
    '?month=%00',
    '?month=%',
    '?month=2026-01%0a',
  ],
  [
    '?month[]=1',
    '?__proto__=1',
    '?a=b&&&==',
    '???',
    '?a=%ff%fe',
    "?month='%20or%201=1--",
    '?#',
    '?month=1970-01',
    '?month=0001-01',
  ],
].flat();

/** The method and target of a request line: known routes, near misses, and nonsense. */
export function anyTarget(random: Random): { readonly method: string; readonly target: string } {
  const target = random.chance(0.05) ? `/${'a'.repeat(random.pick([2_000, 8_000, 15_000]))}` : random.pick(PATHS);
  const isRoute = random.chance(0.4);
  return {
    method: random.pick(isRoute ? ['GET', 'GET', 'HEAD', 'POST'] : METHODS),
    target: (isRoute ? random.pick(ROUTES) : target) + random.pick(QUERIES),
  };
}

/** The headers of a valid call. */
export function goodHeaders(random: Random, { liveKey, testKey, user }: Callers): string[] {
  const key = random.chance(0.8) ? liveKey : testKey;
  return ['host: x', `authorization: Bearer ${key}`, `x-service-user: ${user}`, 'content-type: application/json'];
}

const ODD_LINES = [
  ['x-service-user: other', 'x-service-user:', 'x-service-user: a b', 'x-service-user: a,b', 'X-SERVICE-USER: \u00e9'],
  [
    'authorization: Bearer x',
    'authorization: Basic eDp5',
    'authorization:',
    'authorization: Bearer',
    'Authorization: bearer  svc_live_',
  ],
  [
    'x-correlation-id: a b',
    'x-correlation-id:',
    'x-correlation-id: \u001b[31m',
    'x-correlation-id: ${jndi:ldap://x}',
    'x-correlation-id: "x"',
  ],
  [
    'host: y',
    'host:',
    'content-type: text/plain',
    'content-type: multipart/form-data; boundary=',
    'content-encoding: gzip',
  ],
  ['content-encoding: identity', 'content-encoding: br, identity', 'expect: 100-continue', 'expect: 200-ok', 'expect:'],
  [
    'upgrade: websocket\r\nconnection: upgrade',
    'upgrade: h2c\r\nconnection: upgrade, http2-settings\r\nhttp2-settings: AAMAAABk',
  ],
  [
    'connection: close',
    'connection: keep-alive, x-service-user',
    'connection: authorization',
    'keep-alive: timeout=99999',
    'te: trailers',
  ],
  [
    'range: bytes=0-',
    'if-none-match: *',
    'cookie: a=b; __proto__=c',
    'forwarded: for=1.2.3.4',
    'x-forwarded-for: 127.0.0.1',
  ],
  [
    'x-http-method-override: DELETE',
    'origin: null',
    'accept: */*;q=a',
    'accept-encoding: gzip',
    'x-should-retry: true',
    'date: x',
  ],
  [
    'x: a\tb',
    'x: \u00ff\u00fe',
    '__proto__: 1',
    'constructor: 1',
    'transfer-encoding: identity',
    'trailer: x-service-user',
    'via: 1.1 x',
  ],
].flat();

/** Lines that no HTTP parser should accept, or that parsers read differently. */
const BROKEN_LINES = [
  [
    'x: a\0b',
    'bad name: x',
    ': x',
    'no colon',
    'x : y',
    ' folded',
    '\tfolded',
    'x: a\r\n  folded',
    'x: a\rb',
    'x: a\nb: c',
  ],
  [
    'x\u00e9: y',
    'x: \u007f',
    'x: \u0001',
    'host: x\r\n y',
    'x-service-user: a\r\n b',
    '(x): y',
    'x=y: z',
    '\u0000: x',
    'a: b\r\r',
  ],
].flat();

/** The headers of a valid call, mixed with some invalid ones. */
export function headerSoup(random: Random, callers: Callers): readonly string[] {
  let lines = goodHeaders(random, callers).filter(() => random.chance(0.9));
  for (let count = random.whole(1, 4); count > 0; count -= 1) {
    const line = random.pick(ODD_LINES);
    lines.push(line, ...(random.chance(0.2) ? [line] : []));
  }
  if (random.chance(0.1)) lines.push(`x-service-user: ${'a'.repeat(random.pick([128, 129, 256, 257, 9_000]))}`);
  if (random.chance(0.1)) lines.push(`x-correlation-id: ${'c'.repeat(random.pick([127, 128, 129, 9_000]))}`);
  if (random.chance(0.05)) lines.push(...Array.from({ length: 300 }, (_, index) => `x-${index}: ${index}`));
  if (random.chance(0.15)) {
    const huge = `x-long: ${'a'.repeat(random.pick([15_000, 16_384, 70_000]))}`;
    lines.push(random.chance(0.15) ? huge : random.pick(BROKEN_LINES));
  }
  if (random.chance(0.5)) lines = [...random.shuffle(lines)];
  return lines;
}
