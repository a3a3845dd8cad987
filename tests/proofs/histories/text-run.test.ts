// Chunks that differ only in their text are passed on unparsed (docs/decisions/0028). Callers must not notice.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Model, Upstream } from '../../../packages/service/src/catalogue/catalogue.ts';
import type { ChatCall } from '../../../packages/service/src/gateway/call/call.ts';
import { createStreamTally } from '../../../packages/service/src/gateway/stream/stream-tally.ts';
import { chatReply } from '../../../packages/service/src/gateway/wires/chat/chat.ts';
import { newCallId } from '../../../packages/service/src/kernel/values/ids.ts';
import type { JsonObject } from '../../../packages/service/src/kernel/text/json.ts';
import { micros } from '../../../packages/service/src/kernel/values/micros.ts';
import { Utf8Decoder } from '../../../packages/upstream-http/src/utf8-decoder.ts';
import type { Chunk } from '../../../packages/service/src/providers/port/completion.ts';
import { createChunkReader } from '../../../packages/service/src/providers/openai-compatible/chunk-reader.ts';
import type { StreamChunk } from '../../../packages/service/src/providers/port/provider.ts';
import { TextRun } from '../../../packages/text-runs/src/text-run.ts';

const PRICE = {
  priceId: 1n,
  inputMicrosPerMillion: 1_000_000n,
  cachedInputMicrosPerMillion: 250_000n,
  cacheWriteMicrosPerMillion: 0n,
  outputMicrosPerMillion: 4_000_000n,
  marginBasisPoints: 1_000n,
};
const UPSTREAM = { price: PRICE } as Upstream;
const MODEL = { minOutputTokens: 16, contextTokens: 128_000, tokenizer: 'o200k' } as unknown as Model;
const CALL_ID = newCallId();

const PROMPT = { tokensMax: 1_000, tokensEstimated: 20, prompts: 1 };

const COMMON = { callId: CALL_ID, model: MODEL, upstreams: [UPSTREAM], choices: 2, prompt: PROMPT, outputTokensMax: 2 };
const callOf = (wantsUsage: boolean) => ({ ...COMMON, reply: chatReply, wantsUsage }) as unknown as ChatCall;

/** Texts that JSON escapes, that end an event, or that equal the marks of our own templates. */
const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(' fox', 'x', ' ', 'über', '東京', '\u{1F469}\u200D\u{1F680}', '\u2028') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('"', '\\', '\n\n', 'data: ', '\u0000', '~~<text>~~', '~~<padding>~~', '~~{text}~~', ''),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 9_000 }).map((length) => 'long '.repeat(length)) },
);
const delta = fc.oneof(
  { weight: 6, arbitrary: text.map((content) => ({ content })) },
  { weight: 2, arbitrary: text.map((content) => ({ role: 'assistant', content })) },
  { weight: 2, arbitrary: text.map((said) => ({ content: null, reasoning_content: said })) },
  { weight: 1, arbitrary: fc.tuple(text, text).map(([content, refusal]) => ({ content, refusal })) },
  {
    weight: 1,
    arbitrary: text.map((said) => ({
      tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: said } }],
    })),
  },
  { weight: 1, arbitrary: fc.constant({}) },
);
const choice = fc.record(
  {
    index: fc.constantFrom(0, 0, 0, 1),
    delta,
    logprobs: fc.constant(null),
    finish_reason: fc.constantFrom(null, null, null, null, null, null, 'stop', 'max_tokens'),
    content: text,
  },
  { requiredKeys: ['delta'] },
);
const usage = fc.record({ prompt_tokens: fc.nat(50), completion_tokens: fc.nat(5) });
const chunk = fc.record(
  {
    id: fc.constantFrom('chatcmpl-1', 'chatcmpl-1', 'chatcmpl-1', 'chatcmpl-2'),
    created: fc.constant(1_700_000_000),
    model: fc.constant('large-upstream'),
    choices: fc.oneof(
      { weight: 8, arbitrary: fc.tuple(choice) },
      { weight: 1, arbitrary: fc.array(choice, { maxLength: 2 }) },
    ),
    usage: fc.option(usage, { freq: 8 }),
    obfuscation: fc.oneof({ weight: 4, arbitrary: text }, { weight: 1, arbitrary: fc.constantFrom(null, 7) }),
    delta: fc.record({ content: text }),
  },
  { requiredKeys: ['id', 'choices'] },
);

/** Most chunks of a stream are of one kind. Now and then there is another kind. */
const kind = fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1, 2);
const stream = fc
  .tuple(
    fc.array(chunk, { minLength: 1, maxLength: 3 }),
    fc.boolean(),
    fc.array(fc.tuple(kind, text, text), { maxLength: 30, size: 'max' }),
  )
  .map(([kinds, isPaddedFirst, said]) =>
    said.map(([index, words, padding]) => {
      const one = saying(kinds[index % kinds.length], words, padding);
      // The padding may be the first member.
      return isPaddedFirst && 'obfuscation' in one ? { obfuscation: one['obfuscation'], ...one } : one;
    }),
  );

function saying(one: unknown, words: string, padding: string): JsonObject {
  const copy = JSON.parse(JSON.stringify(one)) as Record<string, unknown> & {
    choices: { delta: Record<string, unknown> }[];
  };
  const first = copy.choices[0];
  const name = Object.keys(first?.delta ?? {}).find((key) => typeof first?.delta[key] === 'string' && key !== 'role');
  if (first !== undefined && name !== undefined) first.delta[name] = words;
  if (typeof copy['obfuscation'] === 'string') copy['obfuscation'] = padding;
  return copy;
}

type Writer = (chunk: unknown) => string;
const WRITERS: readonly Writer[] = [
  (one) => `data: ${JSON.stringify(one)}\n\n`,
  (one) => `data: ${JSON.stringify(one)}\n\n`,
  (one) => `data:${JSON.stringify(one)}\n\n`,
  (one) => `data: ${JSON.stringify(one)}\r\n\r\n`,
  (one) => `: ping\n\nid: 7\ndata: ${JSON.stringify(one)}\n\n`,
  // As other languages write JSON: a space after colons and commas, and all non-ASCII characters escaped.
  (one) => `data: ${JSON.stringify(one, undefined, 1).replace(/\n */g, ' ')}\n\n`,
  (one) => `data: ${JSON.stringify(one).replace(/[\u0080-\uffff]/g, escaped)}\n\n`,
];

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function read(bytes: Buffer, places: readonly number[]): readonly StreamChunk[] {
  const reader = createChunkReader();
  const decoder = new Utf8Decoder();
  const chunks: StreamChunk[] = [];
  const cuts = [0, ...places.map((place) => Math.min(place, bytes.length)), bytes.length].toSorted((a, b) => a - b);
  for (const [index, cut] of cuts.entries()) {
    reader.feed(decoder.decode(bytes.subarray(cuts[index - 1] ?? 0, cut)) ?? assert.fail('no UTF-8'));
    chunks.push(...reader.take());
  }
  reader.end();
  return [...chunks, ...reader.take()];
}

/** The chunks of these events, all of them parsed, because an event with other line ends makes no template. */
function chunksOf(sent: readonly unknown[]): readonly Chunk[] {
  const chunks = read(Buffer.from(sent.map((one) => `data: ${JSON.stringify(one)}\r\n\r\n`).join('')), []);
  return chunks.map((one) => (one instanceof TextRun ? assert.fail('the chunk was not parsed') : one));
}

/** The chunks as they would be if all had been parsed. */
function parsed(chunks: readonly StreamChunk[]): readonly Chunk[] {
  return chunks.flatMap((one) => (one instanceof TextRun ? one.chunks : [one]));
}

/** The number of chunks that were not parsed. */
function skimmedIn(chunks: readonly StreamChunk[]): number {
  return chunks.reduce((sum, one) => sum + (one instanceof TextRun ? one.chunks.length : 0), 0);
}

/** Everything that the caller reads and the ledger records for these chunks. */
function outcomeOf(chunks: readonly StreamChunk[], wantsUsage: boolean): unknown {
  const tally = createStreamTally({ call: callOf(wantsUsage), granted: micros(2_000n) }, { upstream: UPSTREAM });
  const frames = chunks.map((one) => tally.take(one)).join('');
  const state = [tally.isFinished(), tally.isPastLimit(), tally.endingAs('abandoned'), tally.endingAs('answered')];
  return [frames, ...state, tally.cutFrames(), tally.end()];
}

test('CC-01 CC-11 unparsed chunks read and cost the same', (t) => {
  let skimmed = 0;
  const property = fc.property(
    stream,
    fc.constantFrom(...WRITERS),
    fc.array(fc.nat(6_000), { maxLength: 4 }),
    fc.boolean(),
    (sent, write, places, wantsUsage) => {
      const came = read(Buffer.from(sent.map(write).join('')), places);
      skimmed += skimmedIn(came);
      assert.deepEqual(parsed(came), chunksOf(sent));
      assert.deepEqual(outcomeOf(came, wantsUsage), outcomeOf(chunksOf(sent), wantsUsage));
    },
  );
  fc.assert(property, { numRuns: 3_000 });
  t.diagnostic(`${skimmed} chunks were not parsed`);
  assert.ok(skimmed > 1_000, `${skimmed} chunks were not parsed`);
});

test('CC-01 only first and last chunks are parsed', () => {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' };
  const one = (content: object, reason: string | null = null) => {
    return { ...head, choices: [{ index: 0, delta: content, logprobs: null, finish_reason: reason }], usage: null };
  };
  const texts = Array.from({ length: 50 }, (_, index) =>
    one({ content: index % 7 === 0 ? '"so"\n\n' : ` word ${index}` }),
  );
  const plain = [one({ role: 'assistant', content: '' }), ...texts, one({}, 'stop')];
  const padded = plain.map((each, index) => ({ ...each, obfuscation: 'aZ0-_'.repeat(index % 4) }));
  for (const sent of [plain, padded]) {
    const came = read(Buffer.from(sent.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')), []);
    assert.equal(skimmedIn(came), 49);
    assert.ok(came.length <= 8, 'the other chunks come in text runs');
    assert.deepEqual(parsed(came), chunksOf(sent));
    assert.deepEqual(outcomeOf(came, true), outcomeOf(chunksOf(sent), true));
    const events = sent.map((each) => Buffer.from(`data: ${JSON.stringify(each)}\n\n`));
    const ends = events.map((_, index) => Buffer.concat(events.slice(0, index + 1)).length);
    const alone = read(Buffer.concat(events), ends);
    assert.equal(skimmedIn(alone), 49);
    assert.deepEqual(parsed(alone), chunksOf(sent));
    assert.deepEqual(outcomeOf(alone, true), outcomeOf(chunksOf(sent), true));
  }
});

test('CC-01 padding is passed on unchanged and costs nothing', () => {
  const sent = ['a', 'b', 'c', 'd'].map((content, index) => {
    const choices = [{ index: 0, delta: { content }, finish_reason: null }];
    return { id: 'chatcmpl-1', choices, obfuscation: 'p'.repeat(index * 1_000) };
  });
  const came = read(Buffer.from(sent.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')), []);
  assert.equal(skimmedIn(came), 2);
  const tally = createStreamTally({ call: callOf(true), granted: micros(2_000n) }, { upstream: UPSTREAM });
  const written = came.map((each) => tally.take(each)).join('');
  const frames = written.split('\n\n').slice(0, -1);
  assert.deepEqual(
    frames.map((frame) => (JSON.parse(frame.slice('data: '.length)) as JsonObject)['obfuscation']),
    sent.map(({ obfuscation }) => obfuscation),
  );
  const { usageChunk } = tally.end();
  assert.equal((usageChunk as JsonObject)['obfuscation'], 'p'.repeat(3_000));
  assert.equal(tally.endingAs('answered').usage.completionTokens, 2);
});

/** The same member in two other places. Only the one in the delta is generated text. */
function echoing(content: string) {
  return { id: 'chatcmpl-1', note: { content: 'a' }, choices: [{ index: 0, delta: { content }, content: 'a' }] };
}

function escapedBeside(said: string): string {
  return `data: {"note":{"content":"a"},"choices":[{"delta":{"content":"${said}"}}]}\n\n`;
}

test('CC-01 another member’s text does not count as generated', () => {
  const sent = [echoing('a'), echoing('a'), echoing('b'), { ...echoing('a'), note: { content: 'b' } }, echoing('c')];
  const came = read(Buffer.from(sent.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')), []);
  assert.deepEqual(parsed(came), chunksOf(sent));
});

test('CC-01 escaped text is not mistaken for another member', () => {
  const one = escapedBeside('\\u0061');
  const [, first, second] = read(Buffer.from(one + one + one.replace('"a"', '"b"')), []);
  assert.ok(!(second instanceof TextRun));
  assert.notDeepEqual(second, first);
});

test('CC-01 a duplicate member does not mislead the template', () => {
  for (const own of ['x', 'y']) {
    const said = `\\u00${own.charCodeAt(0).toString(16)}`;
    for (const place of [
      `"delta":{"content":"x","content":"${said}"}`,
      `"content":"x","delta":{"content":"${said}"}`,
    ]) {
      const one = (content: string) => `data: {"choices":[{${place.replace('"x"', `"${content}"`)}}]}\n\n`;
      const came = read(Buffer.from(one(own) + one(own) + one('other')), []);
      const sent = [own, own, 'other'].map((content): unknown => JSON.parse(one(content).slice('data: '.length)));
      assert.deepEqual(parsed(came), chunksOf(sent));
    }
  }
});

test('CC-11 text that no model generated is free', () => {
  for (const label of ['id', 'type']) {
    const choices = ['a', 'b', 'c', 'd'].map((name) => [{ delta: { [label]: name.repeat(20) } }]);
    const sent = choices.map((each) => ({ id: 'chatcmpl-1', choices: each }));
    const came = read(Buffer.from(sent.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')), []);
    assert.deepEqual(outcomeOf(came, true), outcomeOf(chunksOf(sent), true));
  }
});

function padded(content: string): string {
  return `data: {"choices":[{"delta":{"content":"${content}"}}],"obfuscation":"p"}\n\n`;
}

test('CC-09 only invalid JSON text fails the stream', () => {
  const before = padded('a') + padded('b') + padded('c');
  for (const wrong of ['\\x', 'a\tb', '\\', '\\u12', 'a" b']) {
    for (const place of [padded(wrong), padded('a').replace('"p"', `"${wrong}"`)]) {
      assert.throws(() => read(Buffer.from(before + place + padded('d')), []), { kind: 'malformed' }, wrong);
    }
  }
  for (const right of ['\\\\', '\\"', '\\\\\\"', '"}}],"x":[{"a":{"b":"', '\\ud83d', '\\/', '\u007f']) {
    const came = read(Buffer.from(before + padded(right) + padded('d')), []);
    const sent = [...before.split('\n\n').slice(0, -1), padded(right), padded('d')];
    assert.deepEqual(parsed(came), chunksOf(sent.map((event): unknown => JSON.parse(event.slice('data: '.length)))));
    assert.deepEqual(outcomeOf(came, true), outcomeOf(parsed(came), true));
  }
});

test('CC-09 an event split across reads is one', () => {
  const one = `data: {"id":"chatcmpl-1","choices":[{"delta":{"content":"a"}}]}\n\n`;
  const twice = Buffer.from(one + one.slice(0, -1) + one);
  assert.throws(() => read(twice, [one.length * 2 - 1]), { kind: 'malformed' });
  const last = read(Buffer.from(`${one}data: [DONE]\n\n${one}`), []).slice(1);
  const choices = [{ index: 0, delta: {}, finish_reason: 'stop' }];
  assert.deepEqual(last, [{ choices, usage: undefined, extra: {} }]); // Made here: the provider gave no reason.
});
