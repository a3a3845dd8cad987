import { gzipSync } from 'node:zlib';
import type { Code } from '../../../support/refusal.ts';
import { frame, type UpstreamScript, type UpstreamStep } from '../../../support/scripted-upstream.ts';
import * as path from './path.ts';

const { BOTH, CANARY, DONE, FAILED, FREE, HEAD, JSON_TYPE, NEVER, PLAIN, STREAMED, THROTTLED } = path;

const CANARY_HEADERS = {
  'content-type': 'application/json',
  'retry-after': '3333', // Our refusals never say more than 60.
  'x-canary': CANARY,
  'x-request-id': 'CANARY',
  'x-correlation-id': 'CANARY',
  'x-service-mode': 'CANARY',
  'set-cookie': 'CANARY=1',
  'x-should-retry': 'true',
  'www-authenticate': 'CANARY',
  location: '/v1/chat/completions?CANARY', // A client that follows it sends the call again.
};
const CANARY_ERROR = { message: CANARY, type: 'CANARY', param: 'CANARY', code: 'CANARY' };

function failing(status: number, error: unknown = CANARY_ERROR): UpstreamScript {
  return { status, headers: CANARY_HEADERS, body: JSON.stringify({ error }) };
}

const COMPLETION = path.answerBy({ name: 'chat completions' });

function asJson(...body: readonly UpstreamStep[]): UpstreamScript {
  return { headers: JSON_TYPE, body };
}

function sends(...body: readonly (string | Buffer)[]): UpstreamScript {
  return { body: body.map((write) => ({ write })) };
}

/** The model is `large` unless another is named. */
type Row = readonly [what: string, script: path.Path['provider'], code: Code, model?: path.PathModel];

const REFUSED: readonly Row[] = [
  ...[400, 401, 402, 403, 404, 408, 409, 413, 422, 500, 502, 503, 504].map(
    (status): Row => [`answers ${status}`, failing(status), FAILED],
  ),
  ['throttles with 429', failing(429), THROTTLED],
  ['is overloaded (529)', failing(529), THROTTLED],
  ['redirects with 302', failing(302), FAILED],
  ['redirects with 307', failing(307), FAILED],
  ['answers 201', failing(201), FAILED],
  ['accepts with 202', ({ whole }) => ({ status: 202, body: whole }), FAILED],
  ['answers 204 with nothing', { status: 204, headers: CANARY_HEADERS, body: '' }, FAILED],
  ['answers 500 without end', { status: 500, headers: CANARY_HEADERS, body: [{ write: CANARY }, NEVER] }, FAILED],
  ['cannot be reached', { body: '' }, FAILED, 'closed'],
  ['never answers', { body: [NEVER] }, FAILED, 'hasty'],
  ['falls silent after its head', { headers: CANARY_HEADERS, body: [HEAD, NEVER] }, FAILED, 'hasty'],
  ['resets before its head', { body: [{ destroy: true }] }, FAILED],
  ['resets after its head', { headers: CANARY_HEADERS, body: [HEAD, { destroy: true }] }, FAILED],
  ['answers 200 with nothing', { headers: CANARY_HEADERS, body: '' }, FAILED],
  ['answers 200 with a page', { headers: { 'content-type': 'text/html' }, body: `<p>${CANARY}</p>` }, FAILED],
  ['answers with bytes that are not text', { body: Buffer.from(`\u0000${CANARY}`, 'utf16le') }, FAILED],
];

/** An answer of more than 16 MiB, in pieces. */
const OVERSIZE = Array.from({ length: 17 }, () => ' '.repeat(1024 * 1024));
const TRICKLE = Array.from({ length: 100 }, () => [{ write: ' ' }, { waitMs: 300 }]).flat();

/** Faults that only a plain answer can have. */
const NO_COMPLETION: readonly Row[] = [
  ['resets in the middle of its body', ({ half }) => asJson({ write: half }, { destroy: true }), FAILED],
  ['falls silent in the middle of its body', ({ half }) => asJson({ write: half }, NEVER), FAILED, 'hasty'],
  ['trickles past its timeout', ({ whole }) => asJson(...TRICKLE, { write: whole }), FAILED, 'hasty'],
  ['ends in the middle of its body', ({ half }) => asJson({ write: half }), FAILED],
  [
    'ends short of its content-length',
    ({ whole }) => ({
      headers: { ...JSON_TYPE, 'content-length': '9999' },
      body: [{ write: whole }, { destroy: true }],
    }),
    FAILED,
  ],
  ['sends more than the largest answer', ({ whole }) => sends(...OVERSIZE, whole), FAILED],
  [
    'sends bytes that are not UTF-8',
    ({ whole }) => ({ body: Buffer.from(whole.replace(path.UPSTREAM_MODEL, '\u00ff'), 'latin1') }),
    FAILED,
  ],
  ['sends JSON that is not an object', { body: JSON.stringify([CANARY]) }, FAILED],
  ['sends JSON that is not a completion', { body: JSON.stringify({ message: CANARY }) }, FAILED],
  ['sends an empty list of choices or vectors', ({ empty }) => ({ body: empty }), FAILED],
  ['sends a choice without a message', { body: '{"choices":[{"index":0,"finish_reason":"stop"}]}' }, FAILED],
  ['says nothing and gives no finish reason', { body: COMPLETION.with({ finishReason: null, content: '' }) }, FAILED],
  ['sends an error with 200', failing(200), FAILED],
  ['sends an empty error with 200', failing(200, {}), FAILED],
  ['sends an error that is a string with 200', failing(200, CANARY), FAILED],
  [
    'sends an error next to choices',
    ({ whole }) => ({ body: whole.replace('{', `{"error":{"message":"${CANARY}"},`) }),
    FAILED,
  ],
  ['throttles with 200', failing(200, { message: CANARY, code: 'rate_limit_exceeded' }), THROTTLED],
  ['throttles with 200 and a number', failing(200, { message: CANARY, code: 429 }), THROTTLED],
  ['sends a stream', { body: [path.ROLE, path.FIRST, path.FINISH, path.REPORT, DONE] }, FAILED],
];

const COMMENT = { write: `: ${CANARY}\n\n` };
const COMPRESSED: UpstreamScript = {
  headers: { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' },
  body: [{ write: gzipSync(path.FIRST.write + path.FINISH.write + path.REPORT.write + path.DONE.write) }],
};

/** Faults that a stream can have before its first chunk. */
const NO_STREAM: readonly Row[] = [
  ['ends before a chunk', { body: [HEAD] }, FAILED],
  ['is done before a chunk', { body: [DONE] }, FAILED],
  ['sends nothing but comments', sends(`: ${CANARY}\n\n: ${CANARY}\n\n`), FAILED],
  ['begins with an error', sends(frame({ error: { message: CANARY } })), FAILED],
  ['begins with an error that is a string', sends(frame({ error: CANARY })), FAILED],
  ['begins with a chunk of the type error', sends(frame({ object: 'error', message: CANARY })), FAILED],
  ['begins with an event named error', sends(`event: error\n${frame({ message: CANARY })}`), FAILED],
  ['begins with a throttle', sends(frame({ error: { type: 'rate_limit_error', message: CANARY } })), THROTTLED],
  [
    'throttles in the same write as its first chunk',
    sends(path.FIRST.write + frame({ error: { code: 429 } })),
    THROTTLED,
  ],
  ['begins with a frame that is not JSON', sends(frame(CANARY)), FAILED],
  ['begins with a frame that is not an object', sends(frame([CANARY])), FAILED],
  ['begins with choices that are not a list', sends(frame({ choices: CANARY })), FAILED],
  ['begins with half a frame', sends(`data: {"error":"${CANARY}`), FAILED],
  ['begins with bytes that are not UTF-8', sends(Buffer.from([0x64, 0x61, 0xff, 0xfe])), FAILED],
  ['sends an error as JSON', failing(200), FAILED],
  ['sends a whole completion', { body: COMPLETION.whole }, FAILED],
  ['sends a compressed stream', COMPRESSED, FAILED],
  ['begins with an event that never ends', sends(`data: ${'a'.repeat(2 * 1024 * 1024)}`, CANARY), FAILED],
  [
    'sends comments forever',
    { body: Array.from({ length: 100 }, () => [COMMENT, { waitMs: 300 }]).flat() },
    FAILED,
    'hasty',
  ],
];

function pathsOf(kinds: readonly path.Kind[], rows: readonly Row[]): readonly path.Path[] {
  return rows.map(([what, provider, code, model = 'large']) => {
    return {
      clause: 'CC-09',
      what: `the provider ${what}`,
      kinds,
      model,
      provider,
      gets: { refusal: code },
      ends: FREE,
    };
  });
}

/** Failures of the provider while the status of the answer is still open. */
export const PROVIDER_REFUSES: readonly path.Path[] = [
  ...pathsOf(BOTH, REFUSED),
  ...pathsOf(PLAIN, NO_COMPLETION),
  ...pathsOf(STREAMED, NO_STREAM),
];
