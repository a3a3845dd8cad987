import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { composeAnswer } from './answer.ts';
import { ApiError } from './api-error.ts';
import { parseChatRequest } from './chat-request.ts';
import { completionBody, deltaChunk, deltasOf, finishChunks, piecesOf, usageChunk } from './wire.ts';
import { anyCharacter } from '../../../tests/support/any-character.ts';

const FIELDS = {
  model: 'sim-echo',
  messages: [{ role: 'user', content: 'Call get_time.' }],
  max_tokens: 9,
  n: 2,
  stop: ['a', 'b'],
  tools: [
    { type: 'function', function: { name: 'get_time', description: 'Time.', parameters: { required: ['zone'] } } },
  ],
  tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [{ function: { name: 'get_time' } }] } },
  parallel_tool_calls: true,
  response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } },
  logprobs: true,
  top_logprobs: 1,
};

/** Serves a request that is refused by name or answered in full. Any error but an `ApiError` fails the test. */
function serve(body: string): void {
  let request: ReturnType<typeof parseChatRequest>;
  try {
    request = parseChatRequest(body);
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    return;
  }
  const answer = composeAnswer(request, { reasoningTokens: 1, cachedShare: 0.5 });
  const { completionTokens, reasoningTokens } = answer.usage;
  assert.ok(reasoningTokens <= completionTokens);
  assert.ok(completionTokens <= request.choiceCount * (request.completionTokensMax ?? Infinity));
  const chunks = deltasOf(answer).map((delta) => deltaChunk(answer, delta, true));
  JSON.stringify([completionBody(answer, answer.usage), chunks, finishChunks(answer, true), usageChunk(answer)]);
}

/** Returns `value` with one of its members, at any depth, replaced. */
function withReplaced(value: unknown, path: readonly number[], replacement: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== 'object' || value === null) return replacement;
  const keys = Object.keys(value);
  const key = keys[step % keys.length];
  if (key === undefined) return replacement;
  if (Array.isArray(value)) return value.with(Number(key), withReplaced(value[Number(key)], rest, replacement));
  return { ...value, [key]: withReplaced((value as Record<string, unknown>)[key], rest, replacement) };
}

test('OP-01 any body at all is answered or refused', () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), serve), { numRuns: 300 });
});

test('OP-01 any request at all is answered or refused', () => {
  const path = fc.array(fc.nat(20), { minLength: 1, maxLength: 6 });
  const anything = fc.oneof(fc.jsonValue(), fc.constantFrom('', 'auto', 'none', 'required', null, 0, -1, 1e9, [], {}));
  const property = fc.property(path, anything, (at, value) => serve(JSON.stringify(withReplaced(FIELDS, at, value))));
  fc.assert(property, { numRuns: 2_000 });
});

test('OP-01 any text equals its pieces joined', () => {
  const text = fc.string({
    unit: fc.oneof(fc.constantFrom(' ', '\n', '🙂'), fc.string({ unit: anyCharacter, maxLength: 20 })),
  });
  fc.assert(fc.property(text, (whole) => assert.equal(piecesOf(whole).join(''), whole)));
});
