// What a model says in any order makes events that agree with each other, lose nothing and say nothing twice.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../packages/service/src/kernel/text/json.ts';
import { checkStream } from '../conformance/responses/check-stream.ts';
import {
  chunkOf,
  echoOf,
  eventsIn,
  openSealing,
  patternOf,
  played,
  runFor,
  type Sent,
} from '../conformance/responses/streams.ts';

const TOOLS = echoOf({}, [
  ['exec', { type: 'custom', name: 'exec' }],
  ['ns__look', { type: 'function', name: 'look', namespace: 'ns' }],
]);
const seed = Number(process.env['PURSER_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const NAMES = ['find', 'exec', 'ns__look'] as const;

/** One thing that is said: where, and what. */
type Step =
  | { readonly kind: 'content' | 'refusal' | 'reasoning'; readonly text: string }
  | { readonly kind: 'run'; readonly of: 'content' | 'refusal' | 'reasoning'; readonly texts: readonly string[] }
  | { readonly kind: 'block'; readonly index: number; readonly text: string; readonly isSealed: boolean }
  | { readonly kind: 'call'; readonly index: number; readonly text: string }
  | { readonly kind: 'citation' | 'picture' | 'nothing' };

const text = fc.string({ unit: 'binary', maxLength: 12 });
const place = fc.constantFrom('content', 'refusal', 'reasoning');
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: place, text }),
  fc.record({
    kind: fc.constant('run' as const),
    of: place,
    texts: fc.array(
      text.filter((one) => one !== ''),
      { minLength: 1, maxLength: 4 },
    ),
  }),
  fc.record({ kind: fc.constant('block' as const), index: fc.nat(2), text, isSealed: fc.boolean() }),
  fc.record({ kind: fc.constant('call' as const), index: fc.nat(2), text }),
  fc.record({ kind: fc.constantFrom('citation', 'picture', 'nothing') }),
);

test('WI-06 what is said in any order is told whole, once', () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 20 }),
      fc.constantFrom('end', 'cut'),
      fc.boolean(),
      (steps, how, isCarried) => {
        const hasBlocks = steps.some((one) => one.kind === 'block');
        // One answer has its thoughts in one place; other places repeat them, and are tried elsewhere.
        const said = steps.filter(
          (one) => !hasBlocks || (one.kind !== 'reasoning' && !(one.kind === 'run' && one.of === 'reasoning')),
        );
        const sent = sentFor(said);
        const whole = how === 'end' ? [...sent, chunkOf({}, 'stop')] : sent;
        const last = checkStream(eventsIn(played(whole, { echo: TOOLS, how, sealing: openSealing({ isCarried }) })));
        assert.equal(last['status'], how === 'end' ? 'completed' : 'incomplete');
        assertWhole(said, last['output'] as readonly JsonObject[]);
      },
    ),
    { seed, numRuns: 300 },
  );
});

function sentFor(steps: readonly Step[]): readonly Sent[] {
  const begun = new Set<number>();
  const patterns = new Map(
    [...(['content', 'refusal', 'reasoning'] as const)].map((of) => [of, patternOf((one) => chunkOf({ [of]: one }))]),
  );
  return steps.map((one): Sent => {
    switch (one.kind) {
      case 'run': {
        const pattern = patterns.get(one.of);
        assert.ok(pattern);
        return runFor(pattern, one.texts);
      }
      case 'block': {
        const { index, text: words, isSealed } = one;
        return chunkOf({
          reasoning_details: [{ type: 'reasoning.text', index, text: words, ...(isSealed && { signature: 's' }) }],
        });
      }
      case 'call': {
        const isFirst = !begun.has(one.index);
        begun.add(one.index);
        const named = isFirst ? { id: `call_${one.index}`, type: 'function' } : {};
        const name = isFirst ? { name: NAMES[one.index] } : {};
        return chunkOf({ tool_calls: [{ index: one.index, ...named, function: { ...name, arguments: one.text } }] });
      }
      case 'citation':
        return chunkOf({ annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.example' } }] });
      case 'picture':
        return chunkOf({ images: [{ image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }] });
      case 'nothing':
        return chunkOf({ role: 'assistant', content: '' });
      case 'content':
      case 'refusal':
      case 'reasoning':
        return chunkOf({ [one.kind]: one.text });
    }
  });
}

function textOf(steps: readonly Step[], kind: string): string {
  return steps
    .map((one) =>
      one.kind === kind && 'text' in one ? one.text : one.kind === 'run' && one.of === kind ? one.texts.join('') : '',
    )
    .join('');
}

function assertWhole(steps: readonly Step[], output: readonly JsonObject[]): void {
  const partsOf = (type: string, list: string): readonly JsonObject[] =>
    output.filter((item) => item['type'] === type).flatMap((item) => item[list] as readonly JsonObject[]);
  const parts = partsOf('message', 'content');
  const joined = (name: string, of = parts): string => of.map((part) => part[name] as string | undefined).join('');
  assert.equal(joined('text'), textOf(steps, 'content'));
  assert.equal(joined('refusal'), textOf(steps, 'refusal'));
  assert.equal(joined('text', partsOf('reasoning', 'summary')), textOf(steps, 'reasoning') + textOf(steps, 'block'));
  assert.equal(
    output.filter(({ type }) => type === 'image_generation_call').length,
    steps.filter(({ kind }) => kind === 'picture').length,
  );
  for (const index of [0, 2]) {
    const words = steps.map((one) => (one.kind === 'call' && one.index === index ? one.text : '')).join('');
    const call = output.find((item) => item['call_id'] === `call_${index}`);
    assert.equal(call?.['arguments'] ?? '', words);
  }
}
