import { frame, type UpstreamStep } from '../../../support/scripted-upstream.ts';
import * as path from './path.ts';

const { ANSWERED, CANARY, chunk, CONTENT, DONE, FINISH, FIRST, JSON_TYPE, NO_USAGE, PLAIN, REPORT, STREAMED } = path;

const COUNTED: path.PathEnd = { outcome: 'answered', by: { counted: CONTENT } };
const ZERO: path.PathEnd = { outcome: 'answered', by: 'zero' };
const PIECES = [FIRST, path.SECOND, path.THIRD] as const;
const ALL = [...PIECES, FINISH, REPORT, DONE] as const;
const BYTE_ORDER_MARK: UpstreamStep = { write: '\u{FEFF}' };
const EMPTY = { write: frame({ id: 'chatcmpl-1', object: 'chat.completion.chunk', choices: null, usage: null }) };
const RESET: UpstreamStep = { destroy: true };
const BEGUN_USAGE = { role: 'assistant', content: '' };

type Row = readonly [what: string, script: path.Path['provider'], ends: path.PathEnd];

const WHOLE: readonly Row[] = [
  ['leaves out the usage', withFacts({}), COUNTED],
  ['reports an invalid usage', withFacts({ usage: { prompt_tokens: 'many' } }), COUNTED],
  ['reports a usage of zero', withFacts({ usage: NO_USAGE }), ZERO],
  ['gives no finish reason', withFacts({ usage: path.USAGE, finishReason: null }), ANSWERED],
  ['labels its JSON as text', ({ whole }) => ({ headers: { 'content-type': 'text/plain' }, body: whole }), ANSWERED],
  ['sends its answer in two parts', ({ whole }) => ({ headers: JSON_TYPE, body: inTwo(whole) }), ANSWERED],
];

const STREAMS: readonly Row[] = [
  ['leaves out the usage', { body: [...PIECES, FINISH, DONE] }, COUNTED],
  ['reports a usage of zero', { body: [...PIECES, FINISH, path.usageChunk(NO_USAGE), DONE] }, ZERO],
  ['ends without [DONE]', { body: [...PIECES, FINISH, REPORT] }, ANSWERED],
  ['ends without [DONE] and usage', { body: [...PIECES, FINISH] }, COUNTED],
  ['sends [DONE] without a blank line', { body: [...PIECES, FINISH, REPORT, { write: 'data: [DONE]' }] }, ANSWERED],
  ['goes on after [DONE]', { body: [...PIECES, FINISH, REPORT, DONE, { write: CANARY }] }, ANSWERED],
  ['stays after [DONE]', { body: [...PIECES, FINISH, REPORT, DONE, path.NEVER] }, ANSWERED],
  ['stops at its limit', { body: [chunk(BEGUN_USAGE), ...PIECES, chunk({}, 'length'), REPORT, DONE] }, ANSWERED],
  ['begins with a byte order mark', { body: [BYTE_ORDER_MARK, ...ALL] }, ANSWERED],
  ['ends its lines with CR or CRLF', { body: ALL.map(withOtherEnds) }, ANSWERED],
  ['sends comments between chunks', { body: ALL.flatMap((step) => [{ write: `: ${CANARY}\n\n` }, step]) }, ANSWERED],
  ['sends a chunk without choices', { body: [...PIECES, EMPTY, FINISH, REPORT, DONE] }, ANSWERED],
  ['sends [DONE] without a finish reason', { body: [...PIECES, DONE] }, COUNTED],
  ['reports usage but no finish reason', { body: [...PIECES, REPORT, DONE] }, ANSWERED],
  ['reports usage but no finish reason, and ends', { body: [...PIECES, REPORT] }, ANSWERED],
  ['resets after its finish reason', { body: [...PIECES, FINISH, RESET] }, COUNTED],
  ['resets after its usage', { body: [...PIECES, REPORT, RESET] }, ANSWERED],
  ['sends its usage first', { body: [REPORT, ...PIECES, FINISH, DONE] }, ANSWERED],
  ['sends its usage twice', { body: [...PIECES, FINISH, REPORT, REPORT, DONE] }, ANSWERED],
  [
    'labels its stream as text',
    { headers: { 'content-type': 'text/plain' }, body: [...PIECES, FINISH, REPORT, DONE] },
    ANSWERED,
  ],
];

/** Writes the line ends as carriage returns alone, and with a line feed: both are line ends of the format. */
function withOtherEnds({ write }: { readonly write: string }, index: number): UpstreamStep {
  return { write: write.replaceAll('\n', index % 2 === 0 ? '\r' : '\r\n') };
}

function withFacts(facts: Parameters<path.Answer['with']>[0]): path.Path['provider'] {
  return (answer) => ({ body: answer.with(facts) });
}

function inTwo(text: string): readonly UpstreamStep[] {
  return [{ write: text.slice(0, 99) }, { waitMs: 20 }, { write: text.slice(99) }];
}

function pathsOf(kinds: readonly path.Kind[], rows: readonly Row[]): readonly path.Path[] {
  return rows.map(([what, provider, ends]) => {
    return { clause: 'CC-11', what: `the provider ${what}`, kinds, provider, gets: 'answer', ends };
  });
}

/** Answers that look like failures but are whole and must be charged. */
export const WHOLE_ANSWERS: readonly path.Path[] = [...pathsOf(PLAIN, WHOLE), ...pathsOf(STREAMED, STREAMS)];
