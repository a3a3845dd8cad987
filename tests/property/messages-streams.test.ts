// What a model says in any order makes blocks that come one after the other, lose nothing and say nothing twice.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../packages/service/src/kernel/text/json.ts';
import { joinStream } from '../conformance/messages/join-stream.ts';
import { anySteps, sentFor, type Step } from '../conformance/messages/random-streams.ts';
import { echoOf, eventsOf } from '../conformance/messages/streams.ts';
import { chunkOf } from '../conformance/responses/streams.ts';

const seed = Number(process.env['PURSER_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
test('WI-09 what is said in any order is told whole, once', () => {
  fc.assert(
    fc.property(anySteps, fc.constantFrom('end', 'cut'), (said, how) => {
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
