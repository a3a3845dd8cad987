import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { createTokenCounter } from '../../packages/service/src/gateway/usage/token-counter.ts';

/** A text, what kind of text it is, and its tokens as real tokenizers give them. */
interface Sample {
  readonly name: string;
  readonly kind: string;
  readonly text: string;
  readonly o200k: number;
  readonly cl100k: number;
}

const FILE = new URL('../fixtures/token-corpus.json', import.meta.url);
const { texts } = JSON.parse(readFileSync(FILE, 'utf8')) as { readonly texts: readonly Sample[] };
const TOKENIZERS = ['o200k', 'cl100k'] as const;
/** Signs and digits come in denser and looser forms, which look the same from outside. */
const DENSE = new Set(['code', 'dense', 'mixed', 'emoji']);

function countOf(tokenizer: (typeof TOKENIZERS)[number], pieces: readonly string[]): number {
  const counter = createTokenCounter(tokenizer);
  for (const piece of pieces) counter.add(piece);
  return counter.tokens();
}

for (const tokenizer of TOKENIZERS) {
  test(`CC-23 our count is close to a real tokenizer: ${tokenizer}`, () => {
    assert.ok(texts.length >= 38, 'the corpus has all its scripts');
    for (const sample of texts) {
      const { name, kind, text } = sample;
      const ratio = countOf(tokenizer, [text]) / sample[tokenizer];
      assert.ok(ratio >= 0.9, `${name}: ${ratio.toFixed(2)} times the tokens`);
      assert.ok(ratio <= (DENSE.has(kind) ? 1.55 : 1.5), `${name}: ${ratio.toFixed(2)} times the tokens`);
    }
  });
}

test('CC-23 a count does not depend on where text is cut', () => {
  const anyText = fc.constantFrom(...texts.map(({ text }) => text));
  fc.assert(
    fc.property(
      anyText,
      fc.array(fc.nat({ max: 9 }), { minLength: 1 }),
      fc.constantFrom(...TOKENIZERS),
      (text, lengths, tokenizer) => {
        const pieces: string[] = [];
        for (let at = 0, turn = 0; at < text.length; turn += 1) {
          const end = at + 1 + (lengths[turn % lengths.length] ?? 0);
          pieces.push(text.slice(at, end));
          at = end;
        }
        assert.equal(countOf(tokenizer, pieces), countOf(tokenizer, [text]));
      },
    ),
  );
});
