// What passes through to Claude costs what a translation of it costs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SECRETS, setClaudeStage } from '../support/claude-stage.ts';
import {
  answering,
  eventsOf,
  type Fields,
  hello,
  HELLO,
  NEW_BLOCK,
  OVERLOADED,
  streaming,
  textOfEvents,
  USAGE,
} from '../support/claude-upstream.ts';
import type { NextScript } from '../support/scripted-upstream.ts';

const { ask, asChat } = await setClaudeStage();

const cut = (answer: Parameters<typeof eventsOf>[0], without: number, ...more: readonly Fields[]): NextScript => ({
  body: [{ write: textOfEvents([...eventsOf(answer).slice(0, -without), ...more]) }],
});

/** Streams of Claude, with what each costs on either wire. */
const STREAMS: readonly (readonly [what: string, script: NextScript, charge: number])[] = [
  ['caches of both lifetimes', streaming(), 2_115],
  [
    'an input of 0 at the end',
    streaming({ ...hello, usage: { input_tokens: 0, output_tokens: 20 }, first: USAGE }),
    70,
  ],
  ['no output before its end', streaming({ ...hello, first: { output_tokens: 0 } }), 70],
  [
    'several steps of one answer',
    streaming({ ...hello, usage: { ...USAGE, iterations: [{ type: 'message', ...USAGE }, { type: 'new_one' }] } }),
    70,
  ],
  ['a refusal before any output', streaming({ content: [], reason: 'refusal' }), 0],
  ['a refusal behind an empty text', streaming({ content: [{ type: 'text', text: '' }], reason: 'refusal' }), 0],
  ['a refusal behind a text', streaming({ ...hello, reason: 'refusal' }), 70],
  ['the limit', streaming({ ...hello, reason: 'max_tokens' }), 70],
  ['the context', streaming({ ...hello, reason: 'model_context_window_exceeded' }), 70],
  ['a pause', streaming({ ...hello, reason: 'pause_turn' }), 70],
  ['a reason that is new', streaming({ ...hello, reason: 'new_reason' }), 70],
  ['blocks that are new', streaming({ ...hello, content: [NEW_BLOCK, ...HELLO] }), 70],
  ['no last event', cut(hello, 1), 70],
  ['an error behind its end', cut(hello, 1, OVERLOADED), 70],
  ['no reason', cut(hello, 2), 0],
  ['an error in its middle', cut(hello, 3, OVERLOADED), 0],
];

test('WI-02 a stream of Claude costs the same passed through and translated', async () => {
  for (const [what, script, charge] of STREAMS) {
    const passed = await ask(script, { stream: true });
    const translated = await asChat(script, { stream: true });
    const facts = ({ bill: { charged, outcome, isEstimated } }: typeof passed) => [charged, outcome, isEstimated];
    assert.deepEqual(facts(passed), facts(translated), what);
    assert.equal(passed.bill.charged, charge, what);
    assert.doesNotMatch(passed.reply.text, SECRETS);
  }
});

test('WI-02 a whole answer of Claude costs the same passed through and translated', async () => {
  for (const [what, answer, charge] of [
    ['caches of both lifetimes', {}, 2_115],
    ['a refusal before any output', { content: [], reason: 'refusal' }, 0],
    ['a refusal behind a text', { ...hello, reason: 'refusal' }, 70],
    ['no reason', { ...hello, reason: null }, 70],
    [
      'steps',
      {
        ...hello,
        usage: {
          ...USAGE,
          iterations: [
            { type: 'message', ...USAGE },
            { type: 'compaction', ...USAGE },
          ],
        },
      },
      140,
    ],
  ] as const) {
    const passed = await ask(answering(answer));
    const translated = await asChat(answering(answer));
    assert.deepEqual([passed.bill.charged, passed.bill.tokens], [charge, translated.bill.tokens], what);
    assert.equal(translated.bill.charged, charge, what);
  }
});

test('CC-23 an answer of Claude without usage is charged by our own count, on either wire', async () => {
  for (const script of [answering({ ...hello, usage: null }), streaming({ ...hello, usage: null })]) {
    const fields = { stream: Array.isArray(script.body) };
    const [passed, translated] = [await ask(script, fields), await asChat(script, fields)];
    assert.ok(passed.bill.isEstimated && passed.bill.charged > 0);
    assert.deepEqual(passed.bill.tokens, translated.bill.tokens);
  }
});

test('WA-07 a hold for Claude covers its own form, and each reference to a tool', async () => {
  const tool = { name: 'now', description: 'Tells the time.', input_schema: { type: 'object' }, defer_loading: true };
  const reference = { type: 'tool_reference', tool_name: 'now' };
  const [held = 0, heldForTwo = 0] = await Promise.all(
    [[reference], [reference, reference]].map(async (content) => {
      const messages = [
        { role: 'user', content: 'What time is it?' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'find', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content }] },
      ];
      return (await ask(answering(hello), { tools: [tool], messages })).bill.held;
    }),
  );
  const tokens = JSON.stringify(reference).length + 1 + JSON.stringify(tool).length;
  assert.equal(heldForTwo - held, tokens * 2, 'at the price of a cache write');
});
