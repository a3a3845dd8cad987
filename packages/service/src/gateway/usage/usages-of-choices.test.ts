import assert from 'node:assert/strict';
import { test } from 'node:test';
import { laterReport, usageTaken } from '#gateway/usage/usage-report.ts';
import type { UsageReport } from '#providers/port/completion.ts';
import { createChunkReader } from '#providers/openai-compatible/chunk-reader.ts';
import { reportIn } from '#providers/answers/usage.ts';
import { TextRun } from '@purser/text-runs/text-run.ts';

type Frame = Readonly<Record<string, unknown>>;

function usageOf(completion: number, cached = 0): Frame {
  const usage = { prompt_tokens: 10, completion_tokens: completion, total_tokens: 10 + completion };
  return { usage: { ...usage, prompt_tokens_details: { cached_tokens: cached } } };
}
const alone = (completion: number, cached = 0): Frame => ({ choices: [], ...usageOf(completion, cached) });
const said = (index: number, content: string, more: Frame = {}): Frame => ({
  choices: [{ index, delta: { content } }],
  ...more,
});
const ended = (index: number, more: Frame = {}): Frame => ({
  choices: [{ index, delta: {}, finish_reason: 'stop' }],
  ...more,
});
const cut = (index: number): Frame => ({ choices: [{ index, delta: {}, finish_reason: 'length' }] });
/** The limit of each choice. */
const LIMIT = 20;
const TIMES = { timings: { prompt_n: 8, cache_n: 2, predicted_n: 5 } };

/** What a stream of two choices is charged for: tokens of the prompt, of its cached part, and of the output. */
function taken(frames: readonly Frame[]): readonly (number | boolean)[] {
  const reader = createChunkReader(2 * LIMIT, 2);
  for (const one of frames) reader.feed(`data: ${JSON.stringify(one)}\n\n`);
  const reports = reader.take().map((chunk) => (chunk instanceof TextRun ? undefined : chunk.usage));
  const report = reports.reduce<UsageReport | undefined>(laterReport, undefined);
  const { usage, isClamped } = usageTaken(report, () => assert.fail('all is reported'));
  return [usage.promptTokens, usage.cachedTokens, usage.completionTokens, isClamped];
}

/** Ends of a stream behind text of both choices, with the cached tokens and the output. */
const ENDS: readonly (readonly [what: string, frames: readonly Frame[], cached: number, completion: number])[] = [
  ['one behind each reason', [ended(0), alone(5), said(1, '!'), ended(1), alone(7)], 0, 12],
  ['one behind each reason, in a row', [ended(1), alone(7), ended(0), alone(5)], 0, 12],
  ['one behind each, of one size', [ended(0), alone(5), ended(1), alone(5)], 0, 10],
  ['one for each behind both reasons', [ended(0), ended(1), alone(5), alone(7)], 0, 12],
  ['one for each behind both, and one for both', [ended(0), ended(1), alone(7), alone(5), alone(12)], 0, 12],
  ['one for each behind both, at the limit of each', [cut(0), cut(1), alone(LIMIT), alone(LIMIT)], 0, 2 * LIMIT],
  ['one beside each reason', [ended(0, usageOf(5)), ended(1, usageOf(7))], 0, 12],
  ['one for each, the prompt cached for the second', [ended(0), alone(5), ended(1), alone(7, 9)], 0, 12],
  ['times beside each reason', [ended(0, TIMES), ended(1, TIMES)], 2, 10],
  ['one for both', [ended(0), ended(1), alone(12)], 0, 12],
  ['one for both, twice', [ended(0), ended(1), alone(12), alone(12)], 0, 12],
  ['one for both behind one reason', [ended(1), alone(12)], 0, 12],
  ['one for both without reasons', [alone(12)], 0, 12],
  ['one beside each reason, and one for both', [ended(0, usageOf(5)), ended(1, usageOf(7)), alone(12)], 0, 12],
  [
    'one beside each text, and one for both',
    [said(0, 'a', usageOf(5)), said(1, 'b', usageOf(7)), ended(0), ended(1), alone(12)],
    0,
    12,
  ],
];

test('MO-08 usages of different choices add up, and their prompt counts once', () => {
  for (const [what, frames, cached, completion] of ENDS)
    assert.deepEqual(taken([said(0, 'one'), said(1, 'two'), ...frames]), [10, cached, completion, false], what);
});

const report = (answer: Frame) => usageTaken(reportIn(answer), () => assert.fail('all is reported')).usage;

test('MO-08 usages of the choices of a plain answer add up', () => {
  const choices = [5, 7].map((completion, index) => ({ index, message: { content: 'x' }, ...usageOf(completion) }));
  assert.deepEqual([report({ choices }).promptTokens, report({ choices }).completionTokens], [10, 12]);
  assert.equal(report({ choices, ...usageOf(11) }).completionTokens, 11);
});
