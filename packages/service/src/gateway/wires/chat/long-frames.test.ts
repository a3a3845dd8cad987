import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { inShortChunks } from '#gateway/wires/chat/long-frames.ts';
import { isShortFrame, mayBeLong } from '#gateway/output/frame-length.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

const BYTES_MAX = 32 * 1024;
const BESIDE = 300;

/** Texts of up to 130 KB that grow in JSON, or have two units a character. */
const long = fc
  .tuple(fc.constantFrom('a', '"\\', '\n', '\u0001', 'ü', '東', '🐟', '👩‍👩‍👧', '\ud83d'), fc.nat(12_000), fc.string())
  .map(([unit, times, before]) => before + unit.repeat(times));
const call = fc.record({ name: fc.constantFrom('look', 'find'), arguments: long });
const choice = fc.record(
  {
    content: long,
    refusal: long,
    reasoning_content: long,
    tool_calls: fc.array(call, { maxLength: 3 }),
    function_call: call,
    reasoning_details: fc.array(long, { maxLength: 2 }),
    images: fc.array(fc.constant({ type: 'image_url' }), { maxLength: 2 }),
    isEnd: fc.boolean(),
    tokens: fc.constantFrom(0, 3, 600),
  },
  { requiredKeys: ['isEnd', 'tokens'] },
);

function choiceOf(index: number, given: Record<string, unknown>): JsonObject {
  const { isEnd, tokens, tool_calls: calls, reasoning_details: details, ...texts } = given;
  const numbered = (calls as object[] | undefined)?.map((called, place) => {
    return { index: place, id: `c${place}`, type: 'function', function: called };
  });
  const blocks = (details as string[] | undefined)?.map((text, place) => {
    return { type: 'reasoning.text', index: place, text, signature: 's' };
  });
  const token = { token: 'a', logprob: -1, bytes: [97] };
  return {
    index,
    delta: {
      role: 'assistant',
      ...texts,
      ...(numbered && { tool_calls: numbered }),
      ...(blocks && { reasoning_details: blocks }),
    },
    logprobs: tokens === 0 ? null : { content: Array.from({ length: Number(tokens) }, () => token), refusal: null },
    finish_reason: isEnd === true ? 'stop' : null,
  };
}

/** Puts deltas together as clients do: texts are joined, items of one number too. */
function joined(before: unknown, next: unknown): unknown {
  if (before === undefined || before === null) return next;
  if (typeof before === 'string' && typeof next === 'string')
    return before === next && next === 'assistant' ? next : before + next;
  if (Array.isArray(before) && Array.isArray(next)) return next.reduce<unknown[]>(withItem, before);
  if (!isJsonObject(before) || !isJsonObject(next)) return next;
  const all: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(next)) {
    const isLabel = name === 'type' || name === 'index' || name === 'finish_reason';
    all[name] = isLabel ? value : joined(all[name], value);
  }
  return all;
}

function withItem(items: unknown[], item: unknown): unknown[] {
  const index = isJsonObject(item) ? item['index'] : undefined;
  const place = items.findIndex((one) => index !== undefined && isJsonObject(one) && one['index'] === index);
  return place === -1 ? [...items, item] : items.with(place, joined(items[place], item));
}

test('CC-01 a long chunk means the same in frames of at most 32 KB', () => {
  fc.assert(
    fc.property(fc.array(choice, { minLength: 1, maxLength: 2 }), (given) => {
      const choices = JSON.parse(JSON.stringify(given.map((one, index) => choiceOf(index, one)))) as JsonObject[];
      const chunks = inShortChunks(choices, BESIDE);
      for (const one of chunks) assert.ok(Buffer.byteLength(JSON.stringify(one)) + BESIDE <= BYTES_MAX);
      for (const whole of choices) {
        const own = chunks.filter(({ index }) => index === whole['index']);
        assert.deepEqual(
          own.reduce((before, next) => joined(before, next) as JsonObject),
          own.length === 1 ? own[0] : whole,
        );
        assert.deepEqual(
          own.slice(0, -1).filter(({ finish_reason: reason }) => reason !== null),
          [],
        );
        assert.equal((own[0]?.['delta'] as JsonObject | undefined)?.['role'], 'assistant');
      }
    }),
    { numRuns: 15 },
  );
});

test('CC-01 no frame of a text ends within a character', () => {
  const content = `a${'🐟'.repeat(50_000)}`;
  const chunks = inShortChunks([{ index: 0, delta: { content }, finish_reason: null }], BESIDE);
  assert.ok(chunks.length > 6);
  for (const { delta } of chunks) assert.ok(String((delta as JsonObject)['content']).isWellFormed());
});

test('CC-01 short frames are known without measuring each', () => {
  assert.equal(isShortFrame('x'.repeat(32_000)), true);
  assert.equal(isShortFrame('ü'.repeat(16_001)), false);
  assert.equal(mayBeLong('x'.repeat(5_000), [['x'.repeat(5_000)]]), false);
  assert.equal(mayBeLong('x'.repeat(50_000), [Array.from({ length: 50 }, () => 'x'.repeat(1_000))]), false);
  assert.equal(mayBeLong('x'.repeat(50_000), [['x', 'x'.repeat(49_000)]]), true);
});
