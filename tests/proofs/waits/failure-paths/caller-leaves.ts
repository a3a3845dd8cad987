import { frame, type UpstreamStep } from '../../../support/scripted-upstream.ts';
import * as path from './path.ts';

const { ANSWERED, BOTH, DONE, FINISH, FIRST, FREE, HEAD, JSON_TYPE, NEVER, PLAIN, REPORT, ROLE } = path;
const { SECOND, STREAM, STREAMED, THIRD } = path;

const LEFT: path.PathEnd = { outcome: 'abandoned', by: 'report' };

type StepsOf = (answer: path.Answer) => readonly UpstreamStep[];

const half: StepsOf = (answer) => [{ write: answer.half }];
const whole: StepsOf = (answer) => [{ write: answer.whole }];
const otherHalf: StepsOf = (answer) => [{ write: answer.whole.slice(answer.half.length) }];

/** A plain call runs to its end and is charged, whenever its caller leaves. */
const PLAIN_CALLS: readonly path.Path[] = (
  [
    ['before the provider answers', () => [], whole, ANSWERED],
    ['after the head of the provider', () => [HEAD], whole, ANSWERED],
    ['in the body of the provider', half, otherHalf, ANSWERED],
    ['before the provider fails', half, () => [{ destroy: true }], FREE],
  ] as readonly (readonly [when: string, before: StepsOf, rest: StepsOf, ends: path.PathEnd])[]
).map(([when, before, rest, ends]) => ({
  clause: 'CC-11',
  what: `the caller leaves ${when}`,
  kinds: PLAIN,
  provider: (answer, goneOn) => ({
    headers: JSON_TYPE,
    body: [...before(answer), { waitFor: goneOn }, ...rest(answer)],
  }),
  caller: { leaves: true },
  ends,
}));

/** Moments in a stream: what was sent by then, what the caller has read of it, and what was generated. */
const MOMENTS: readonly (readonly [when: string, said: readonly UpstreamStep[], generated: string, reads?: string])[] =
  [
    ['before the provider answers', [], ''],
    ['between the head and the first frame', [HEAD], ''],
    ['before any content', [ROLE], '', 'assistant'],
    ['in the middle', [ROLE, FIRST, SECOND], path.PIECES.slice(0, 2).join(''), 'went on'],
    ['after the last piece', [ROLE, FIRST, SECOND, THIRD], path.CONTENT, 'ended'],
    ['after the finish reason', [ROLE, FIRST, SECOND, THIRD, FINISH], path.CONTENT, '"stop"'],
  ];

function leaving(reads: string | undefined): path.CallerPart {
  return reads === undefined ? { leaves: true } : { reads, leaves: true };
}

const CANCELLED: readonly path.Path[] = MOMENTS.map(([when, said, counted, reads]) => ({
  clause: 'CC-11',
  what: `the caller leaves ${when}, and the stream is cancelled`,
  kinds: STREAMED,
  provider: { body: [...said, NEVER] },
  caller: leaving(reads),
  ends: { outcome: 'abandoned', by: { counted } },
}));

const DRAINED: readonly path.Path[] = MOMENTS.map(([when, said, _, reads]) => ({
  clause: 'CC-11',
  what: `the caller leaves ${when}, and the stream is drained`,
  kinds: STREAMED,
  model: 'drained',
  provider: (_answer, goneOn) => ({
    body: [...said, { waitFor: goneOn }, ...STREAM.slice(said.includes(HEAD) ? 0 : said.length)],
  }),
  caller: leaving(reads),
  ends: LEFT,
}));

const LATE = { write: frame({ choices: [{ index: 0, delta: { content: '?' }, finish_reason: null }] }) };

/** This is more than all buffers between a provider and a caller can take. None of it was generated. */
const PADDING = { write: frame({ choices: [], system_fingerprint: 'x'.repeat(512 * 1024) }) };
const FLOOD: readonly UpstreamStep[] = Array.from({ length: 24 }, () => PADDING);
const FLOODED_WHOLE = path
  .answerBy({ name: 'chat completions' })
  .whole.replace('{', `{"system_fingerprint":"${'x'.repeat(12 * 1024 * 1024)}",`);

const OTHERS: readonly Omit<path.Path, 'clause'>[] = [
  {
    what: 'the caller leaves after the usage, and the stream is cancelled',
    kinds: STREAMED,
    provider: { body: [ROLE, FIRST, FINISH, REPORT, LATE, NEVER] },
    caller: { reads: '"?"', leaves: true },
    ends: LEFT,
  },
  {
    what: 'the caller leaves after the usage, and the stream is drained',
    kinds: STREAMED,
    model: 'drained',
    provider: (_answer, goneOn) => ({ body: [ROLE, FIRST, FINISH, REPORT, LATE, { waitFor: goneOn }, DONE] }),
    caller: { reads: '"?"', leaves: true },
    ends: LEFT,
  },
  {
    what: 'the caller leaves after [DONE]',
    kinds: STREAMED,
    provider: { body: STREAM },
    caller: { reads: '[DONE]', leaves: true },
    ends: ANSWERED,
  },
  {
    what: 'the caller leaves, and the provider breaks off the drain',
    kinds: STREAMED,
    model: 'drained',
    provider: (_answer, goneOn) => ({ body: [ROLE, FIRST, { waitFor: goneOn }, { destroy: true }] }),
    caller: { reads: 'begun', leaves: true },
    ends: FREE,
  },
  {
    what: 'the caller leaves, and the provider falls silent in the drain',
    kinds: STREAMED,
    model: 'drained-hasty',
    provider: { body: [ROLE, FIRST, NEVER] },
    caller: { reads: 'begun', leaves: true },
    ends: FREE,
  },
  {
    what: 'the caller reads slowly',
    kinds: STREAMED,
    provider: { body: [ROLE, FIRST, ...FLOOD, SECOND, THIRD, FINISH, REPORT, DONE] },
    caller: { reads: 'begun', stalls: true },
    gets: 'answer',
    ends: ANSWERED,
  },
  {
    what: 'the caller reads slowly and leaves',
    kinds: STREAMED,
    provider: { body: [ROLE, FIRST, ...FLOOD, NEVER] },
    caller: { reads: 'begun', stalls: true, leaves: true },
    ends: { outcome: 'abandoned', by: { counted: path.PIECES[0] } },
  },
  {
    what: 'the caller reads slowly',
    kinds: PLAIN,
    provider: { body: FLOODED_WHOLE },
    caller: { reads: 'system_fingerprint', stalls: true },
    gets: 'answer',
    ends: ANSWERED,
  },
  {
    what: 'the caller leaves in the middle of the answer',
    kinds: PLAIN,
    provider: { body: FLOODED_WHOLE },
    caller: { reads: 'system_fingerprint', stalls: true, leaves: true },
    ends: ANSWERED,
  },
];

const HALF_SENT: path.Path = {
  clause: 'CC-08',
  what: 'the caller leaves while sending the request',
  kinds: BOTH,
  provider: { body: '' },
  caller: { isHalfSent: true, leaves: true },
  ends: { outcome: 'none' },
};

/** Callers who leave, and callers who are slow. */
export const CALLER_LEAVES: readonly path.Path[] = [
  HALF_SENT,
  ...PLAIN_CALLS,
  ...CANCELLED,
  ...DRAINED,
  ...OTHERS.map((other) => ({ clause: 'CC-11', ...other })),
];
