// However a provider reports its calls, the caller puts together the calls that it made (clients.md, row 19).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createToolCallOrder } from '../../packages/service/src/providers/answers/tool-calls.ts';
import type { JsonObject } from '../../packages/service/src/kernel/text/json.ts';

const RUNS = 1_000;
const seed = Number(process.env['PURSER_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

interface Intent {
  readonly name: string;
  /** Pieces that are not empty and together form a JSON object. */
  readonly pieces: readonly string[];
}

/** How a provider marks where one call ends and the next begins. */
interface Dialect {
  readonly index: 'dense' | 'from one' | 'with gaps' | 'always 0' | 'none';
  readonly id: 'first' | 'always' | 'then blank' | 'blank' | 'none' | 'shared';
  readonly name: 'first' | 'always' | 'then blank';
  readonly isInterleaved: boolean;
}

const intent: fc.Arbitrary<Intent> = fc
  .record({
    name: fc.constantFrom('look', 'find', 'get'),
    value: fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 }),
    cuts: fc.array(fc.nat(30), { maxLength: 4 }),
  })
  .map(({ name, value, cuts }) => ({ name, pieces: cutUp(JSON.stringify(value), cuts) }));

const dialect: fc.Arbitrary<Dialect> = fc
  .record({
    index: fc.constantFrom('dense', 'from one', 'with gaps', 'always 0', 'none'),
    id: fc.constantFrom('first', 'always', 'then blank', 'blank', 'none', 'shared'),
    name: fc.constantFrom('first', 'always', 'then blank'),
    isInterleaved: fc.boolean(),
  } as const)
  .filter(isLegal);

/** Excludes encodings in which nobody could tell the calls apart. */
function isLegal({ index, id, isInterleaved }: Dialect): boolean {
  const isNumbered = index !== 'always 0' && index !== 'none';
  if (id === 'shared') return isNumbered;
  return !isInterleaved || isNumbered || id === 'always';
}

function cutUp(text: string, cuts: readonly number[]): readonly string[] {
  const ends = [...new Set(cuts.map((cut) => 1 + (cut % text.length)))].filter((end) => end < text.length);
  const places = [0, ...ends.toSorted((left, right) => left - right), text.length];
  return places.slice(1).map((end, place) => text.slice(places[place], end));
}

const NUMBER = { dense: (n: number) => n, 'from one': (n: number) => n + 1, 'with gaps': (n: number) => 3 * n + 2 };

/** The delta of one piece, as this provider encodes it. */
function deltaOf({ name, pieces }: Intent, [call, piece]: readonly [number, number], how: Dialect): JsonObject {
  const isFirst = piece === 0;
  const index = how.index === 'always 0' ? 0 : how.index === 'none' ? undefined : NUMBER[how.index](call);
  const named = isFirst || how.name === 'always' ? { name } : how.name === 'then blank' ? { name: '' } : {};
  return {
    ...(index === undefined ? {} : { index }),
    ...idOf(how.id, call, isFirst),
    ...(isFirst ? { type: 'function' } : {}),
    function: { ...named, arguments: pieces[piece] },
  };
}

function idOf(how: Dialect['id'], call: number, isFirst: boolean): JsonObject {
  if (how === 'blank') return { id: '' };
  if (how === 'none') return {};
  if (how === 'shared') return isFirst ? { id: 'one-for-all' } : {};
  if (isFirst || how === 'always') return { id: `id-${call}` };
  return how === 'then blank' ? { id: '' } : {};
}

/** The order of the pieces: one call after the other, or the calls in turn. */
function orderOf(intents: readonly Intent[], isInterleaved: boolean): readonly (readonly [number, number])[] {
  const all = intents.flatMap(({ pieces }, call) => pieces.map((_, piece) => [call, piece] as const));
  return isInterleaved ? all.toSorted(([, left], [, right]) => left - right) : all;
}

interface Assembled {
  readonly ids: unknown[];
  readonly names: unknown[];
  arguments: string;
}

/** Assembles calls as a simple client does, by index alone. */
function assemble(deltas: readonly JsonObject[]): readonly Assembled[] {
  const calls: Assembled[] = [];
  for (const { index, id, type, function: part } of deltas) {
    assert.ok(typeof index === 'number' && index <= calls.length, `index ${String(index)} leaves a gap`);
    const isFirst = index === calls.length;
    if (isFirst) calls.push({ ids: [], names: [], arguments: '' });
    assert.equal(type, isFirst ? 'function' : undefined);
    const call = calls[index];
    const { name, arguments: text } = part as JsonObject;
    if (id !== undefined) call?.ids.push(id);
    if (name !== undefined) call?.names.push(name);
    if (call !== undefined) call.arguments += String(text);
  }
  return calls;
}

test('CC-13 a caller assembles exactly the provider’s tool calls', () => {
  const property = fc.property(fc.array(intent, { minLength: 1, maxLength: 4 }), dialect, (intents, how) => {
    const { take: order } = createToolCallOrder();
    const deltas = orderOf(intents, how.isInterleaved).map((at) => deltaOf(intents[at[0]] as Intent, at, how));
    const passed = deltas.flatMap((delta) => order([delta]));
    const calls = assemble(passed);
    assert.deepEqual(
      calls.map((call) => [call.names, call.arguments]),
      intents.map(({ name, pieces }) => [[name], pieces.join('')]),
    );
    const ids = calls.map((call) => {
      assert.equal(call.ids.length, 1);
      return call.ids[0];
    });
    assert.equal(new Set(ids).size, ids.length);
    const isGiven = how.id === 'first' || how.id === 'always' || how.id === 'then blank';
    for (const [call, id] of ids.entries()) {
      if (isGiven) assert.equal(id, `id-${call}`);
      else if (how.id !== 'shared') assert.match(String(id), /^call_[0-9A-Za-z]{24}$/);
    }
  });
  fc.assert(property, { numRuns: RUNS, seed });
});

test('CC-13 correct deltas are passed on unchanged', () => {
  const right: Dialect = { index: 'dense', id: 'first', name: 'first', isInterleaved: true };
  const property = fc.property(fc.array(intent, { minLength: 1, maxLength: 4 }), (intents) => {
    const { take: order } = createToolCallOrder();
    const places = orderOf(intents, true);
    for (let piece = 0; places.some(([, at]) => at === piece); piece += 1) {
      const chunk = places.filter(([, at]) => at === piece).map((at) => deltaOf(intents[at[0]] as Intent, at, right));
      const passed = order(chunk);
      assert.ok(passed.length === chunk.length && passed.every((delta, place) => delta === chunk[place]));
    }
  });
  fc.assert(property, { numRuns: 200, seed });
});

test('CC-13 complete calls without ids stay separate', () => {
  const whole = { function: { name: 'now', arguments: '' } };
  const passed = createToolCallOrder().take([whole, whole, { ...whole, type: 'function', id: ' ' }]);
  assert.deepEqual(
    passed.map(({ index, type }) => [index, type]),
    [
      [0, 'function'],
      [1, 'function'],
      [2, 'function'],
    ],
  );
  assert.equal(new Set(passed.map(({ id }) => id)).size, 3);
});

test('CC-13 a late name belongs to the call without one', () => {
  const { take: order } = createToolCallOrder();
  const passed = [
    ...order([{ index: 1, function: { arguments: '' } }]),
    ...order([{ index: 1, function: { name: 'look', arguments: '{' } }]),
    ...order([{ index: 1, id: 'late', function: { arguments: '}' } }]),
  ];
  const [call, ...others] = assemble(passed);
  assert.deepEqual([call?.names, call?.arguments, call?.ids.length, others], [['look'], '{}', 1, []]);
});
