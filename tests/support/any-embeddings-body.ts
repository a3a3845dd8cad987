import fc from 'fast-check';

/** Bodies of the embeddings wire without a model: right ones, and some that are wrong in a place or two. */

const odd = fc.oneof(
  fc.constantFrom(null, true, 7, -1, 1.5, '', 'a', [], {}, [[]], [null], [''], ['a', 1], [1, 'a'], [[1], 'a'], [[-1]]),
  fc.jsonValue({ maxDepth: 2 }),
);
/** Mostly right, so that a request is wrong in a place or two. */
const oddly = <Value>(right: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 12, arbitrary: right }, { weight: 1, arbitrary: odd });
const text = oddly(fc.string({ minLength: 1 }));
const tokens = fc.array(oddly(fc.nat()), { minLength: 1, maxLength: 5 });

export const anyEmbeddingsBody = fc.record(
  {
    input: oddly(fc.oneof(text, tokens, fc.array(text, { minLength: 1, maxLength: 5 }), fc.array(tokens))),
    dimensions: oddly(fc.constantFrom(1, 3, 3_072)),
    encoding_format: oddly(fc.constantFrom('float', 'base64')),
    user: oddly(fc.constant('a')),
  },
  { requiredKeys: ['input'] },
);
