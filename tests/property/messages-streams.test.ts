// What a model says in any order makes blocks that come one after the other, lose nothing and say nothing twice.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../packages/service/src/kernel/json.ts';
import { joinStream } from '../conformance/messages/join-stream.ts';
import { callPiece } from '../conformance/messages/stream-cases.ts';
import { echoOf, eventsOf } from '../conformance/messages/streams.ts';
import { chunkOf, patternOf, runFor, type Sent } from '../conformance/responses/streams.ts';

const seed = Number(process.env['PURSER_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
/** The arguments of each call: whole JSON, which comes in pieces of any length. */
const ARGUMENTS = ['{"a":"}\\"","b":[1,{}]}', '{}', '{"ü":{"c":null}}'] as const;

/** One thing that is said: where, and what. */
type Step =
  | { readonly kind: 'content' | 'refusal' | 'reasoning'; readonly text: string }
  | { readonly kind: 'run'; readonly of: 'content' | 'refusal' | 'reasoning'; readonly texts: readonly string[] }
  | { readonly kind: 'block'; readonly index: number; readonly text: string; readonly isSealed: boolean }
  | { readonly kind: 'call'; readonly index: number; readonly length: number; readonly isRun: boolean }
  | { readonly kind: 'citation' | 'nothing' };

const text = fc.string({ unit: 'binary', maxLength: 12 });
const filled = text.filter((one) => one !== '');
const place = fc.constantFrom('content', 'refusal', 'reasoning');
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: place, text }),
  fc.record({
    kind: fc.constant('run' as const),
    of: place,
    texts: fc.array(filled, { minLength: 1, maxLength: 4 }),
  }),
  fc.record({ kind: fc.constant('block' as const), index: fc.nat(2), text, isSealed: fc.boolean() }),
  fc.record({ kind: fc.constant('call' as const), index: fc.nat(2), length: fc.nat(9), isRun: fc.boolean() }),
  fc.record({ kind: fc.constantFrom('citation', 'nothing') }),
);

test('WI-09 what is said in any order is told whole, once', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), fc.constantFrom('end', 'cut'), (steps, how) => {
      const hasBlocks = steps.some(({ kind }) => kind === 'block');
      // One answer has its thoughts in one place; other places repeat them, and are tried elsewhere.
      const said = steps.filter(
        (one) => !hasBlocks || (one.kind !== 'reasoning' && !(one.kind === 'run' && one.of === 'reasoning')),
      );
      const { sent, words } = sentFor(said);
      const whole = how === 'end' ? [...sent, chunkOf({}, 'stop')] : sent;
      const shown = joinStream(eventsOf(whole, { how }));
      assertWhole(said, words, shown['content'] as readonly JsonObject[], true);
      const hidden = joinStream(eventsOf(whole, { how, echo: echoOf({ thinking: undefined }) }));
      assertWhole(said, words, hidden['content'] as readonly JsonObject[], false);
      const reason = words.size > 0 ? 'tool_use' : textOf(said, 'refusal') === '' ? 'end_turn' : 'refusal';
      assert.equal(shown['stop_reason'], how === 'cut' ? 'max_tokens' : reason);
    }),
    { seed, numRuns: 500 },
  );
});

/** What is sent, and the arguments of each call in it. */
function sentFor(steps: readonly Step[]): { readonly sent: readonly Sent[]; readonly words: Map<number, string> } {
  const words = new Map<number, string>();
  const patterns = new Map<unknown, ReturnType<typeof patternOf>>(
    [...(['content', 'refusal', 'reasoning'] as const)].map((of) => [of, patternOf((one) => chunkOf({ [of]: one }))]),
  );
  for (const index of [0, 1, 2])
    patterns.set(
      index,
      patternOf((one) => chunkOf(callPiece(index, one))),
    );

  function runBy(of: unknown, texts: readonly string[]): Sent {
    const pattern = patterns.get(of);
    assert.ok(pattern);
    return runFor(pattern, texts);
  }

  const sent = steps.map((one): Sent => {
    switch (one.kind) {
      case 'run':
        return runBy(one.of, one.texts);
      case 'block': {
        const { index, text: thought, isSealed } = one;
        const detail = { type: 'reasoning.text', index, text: thought, format: 'anthropic-claude-v1' };
        return chunkOf({ reasoning_details: [{ ...detail, ...(isSealed && { signature: 's' }) }] });
      }
      case 'call': {
        const { index, length, isRun } = one;
        const before = words.get(index);
        const said = before ?? '';
        const piece = ARGUMENTS[index]?.slice(said.length, said.length + length) ?? '';
        words.set(index, said + piece);
        if (before === undefined) return chunkOf(callPiece(index, piece, 'find'));
        return isRun && piece !== '' ? runBy(index, piece.split('')) : chunkOf(callPiece(index, piece));
      }
      case 'citation':
        return chunkOf({ annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.example' } }] });
      case 'nothing':
        return chunkOf({ role: 'assistant', content: '' });
      case 'content':
      case 'reasoning':
      case 'refusal':
        return chunkOf({ [one.kind]: one.text });
    }
  });
  return { sent, words };
}

function textOf(steps: readonly Step[], ...kinds: readonly string[]): string {
  return steps
    .map((one) => {
      if (one.kind === 'run') return kinds.includes(one.of) ? one.texts.join('') : '';
      return kinds.includes(one.kind) && 'text' in one ? one.text : '';
    })
    .join('');
}

function assertWhole(
  steps: readonly Step[],
  words: ReadonlyMap<number, string>,
  content: readonly JsonObject[],
  isShown: boolean,
): void {
  const joined = (type: string): string =>
    content
      .filter((block) => block['type'] === type)
      .map((block) => String(block[type]))
      .join('');
  assert.equal(joined('text'), textOf(steps, 'content', 'refusal'));
  assert.equal(joined('thinking'), isShown ? textOf(steps, 'reasoning', 'block') : '');
  const calls = content.filter(({ type }) => type === 'tool_use');
  assert.equal(calls.length, words.size);
  for (const [index, json] of words) {
    const input = calls.find(({ id }) => id === `call_${index}`)?.['input'];
    assert.equal(typeof input === 'string' ? input : json === '' ? '' : JSON.stringify(input), json);
  }
}
