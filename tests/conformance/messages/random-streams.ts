// Streams in which a model says anything in any order.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { chunkOf, patternOf, runFor, type Sent } from '../responses/streams.ts';
import { callPiece } from './stream-cases.ts';

/** The arguments of each call: whole JSON, which comes in pieces of any length. */
const ARGUMENTS = ['{"a":"}\\"","b":[1,{}]}', '{}', '{"ü":{"c":null}}'] as const;

/** One thing that is said: where, and what. */
export type Step =
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

/** Each answer has its thoughts in one place, because other places repeat them. */
export const anySteps: fc.Arbitrary<readonly Step[]> = fc.array(step, { maxLength: 20 }).map((steps) => {
  const hasBlocks = steps.some(({ kind }) => kind === 'block');
  return steps.filter(
    (one) => !hasBlocks || (one.kind !== 'reasoning' && !(one.kind === 'run' && one.of === 'reasoning')),
  );
});

/** What is sent, and the arguments of each call in it. */
export function sentFor(steps: readonly Step[]): {
  readonly sent: readonly Sent[];
  readonly words: Map<number, string>;
} {
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
