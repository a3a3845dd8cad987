import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { anthropicDialect } from '#providers/anthropic/dialect.ts';
import type { StreamChunk } from '#providers/port/provider.ts';
import { UpstreamError } from '#providers/port/provider.ts';
import { createChunkMaker } from '#providers/translated/chunk-maker.ts';
import { PartStream } from '#providers/translated/part-stream.ts';

type Part = LanguageModelV4StreamPart;

const USAGE = {
  inputTokens: { total: 7, noCache: 7, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 3, text: 3, reasoning: undefined },
};
const text = (delta: string): Part => ({ type: 'text-delta', id: '0', delta });
const finish = (unified: 'stop' | 'error' | 'other', raw?: string): Part => ({
  type: 'finish',
  finishReason: { unified, raw },
  usage: USAGE,
});

function streamOf(parts: readonly (Part | Promise<Part>)[], silenceMsMax = 10_000) {
  const left: string[] = [];
  let pulled = 0;
  const source = new ReadableStream<Part>(
    {
      pull: async (controller) => {
        const next = parts[pulled];
        pulled += 1;
        if (next === undefined) controller.close();
        else controller.enqueue(await next);
      },
    },
    { highWaterMark: 0 },
  );
  const dialect = anthropicDialect({ baseUrl: 'https://api.example.test/v1' });
  const maker = createChunkMaker(dialect, undefined, () => {});
  const stream = new PartStream(source, {
    maker,
    silenceMsMax,
    abort: () => left.push('abort'),
    onLeft: () => left.push('left'),
    failureOf: (fault) => fault,
  });
  return { stream, left, pulled: () => pulled };
}

function textsOf(chunks: readonly StreamChunk[] | undefined): readonly unknown[] {
  return (chunks ?? []).map((chunk) => ('choices' in chunk ? chunk.choices[0]?.delta['content'] : chunk));
}

const isFailure = (kind: string) => (fault: unknown) => fault instanceof UpstreamError && fault.kind === kind;

test('CC-01 parts that arrive together are handed on together', async () => {
  const late = Promise.withResolvers<Part>();
  const { stream } = streamOf([text('a'), text('b'), late.promise, finish('stop')]);
  assert.deepEqual(textsOf(await stream.first()), ['a', 'b']);
  assert.equal(stream.isWhole(), false);
  const taken: unknown[] = [];
  const rest = stream.rest((chunks) => {
    taken.push(...textsOf(chunks));
    return true;
  });
  late.resolve(text('c'));
  await rest;
  assert.deepEqual(taken, ['c', undefined]);
  assert.equal(stream.isWhole(), true);
});

test('CC-01 a stream reads only one part ahead of a busy taker', async () => {
  const [second, third, fourth] = [0, 0, 0].map(() => Promise.withResolvers<Part>());
  assert.ok(second && third && fourth);
  const { stream, pulled } = streamOf([text('a'), second.promise, third.promise, fourth.promise]);
  await stream.first();
  const [taken, busy] = [Promise.withResolvers<void>(), Promise.withResolvers<boolean>()];
  const rest = stream.rest(() => {
    taken.resolve();
    return busy.promise;
  });
  second.resolve(text('b'));
  await taken.promise;
  third.resolve(text('c'));
  fourth.resolve(text('d'));
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
  assert.equal(pulled(), 3);
  busy.resolve(false);
  await rest;
});

test('CC-01 a stream that never pauses is handed on in parts', async () => {
  const { stream } = streamOf(Array.from({ length: 600 }, () => text('a')));
  assert.equal((await stream.first())?.length, 256);
});

for (const [what, parts, kind] of [
  ['ends without a reason to finish', [text('a')], 'cut'],
  ['finishes with an error', [text('a'), finish('error')], 'cut'],
  ['finishes without any reason, as a cut stream of Bedrock does', [text('a'), finish('other')], 'cut'],
  ['sends an error that names no status', [text('a'), { type: 'error', error: new Error('CANARY') }], 'malformed'],
] as const) {
  test(`CC-11 a stream that ${what} fails as ${kind}`, async () => {
    const { stream, left } = streamOf(parts);
    await assert.rejects(
      stream.first().then(() => stream.rest(() => true)),
      isFailure(kind),
    );
    assert.deepEqual(left, ['abort', 'left']);
    assert.equal(stream.isWhole(), true);
  });
}

test('CC-11 an unknown finish reason still ends the stream', async () => {
  const { stream } = streamOf([finish('other', 'some_new_reason')]);
  const [chunk] = (await stream.first()) ?? [];
  assert.ok(chunk !== undefined && 'choices' in chunk);
  assert.equal(chunk.choices[0]?.finish_reason, 'stop');
});

test('CC-09 a stream silent too long fails as timeout', async () => {
  const { stream } = streamOf([text('a'), new Promise<Part>(() => {})], 30);
  await stream.first();
  await assert.rejects(
    stream.rest(() => true),
    isFailure('timeout'),
  );
  await assert.rejects(streamOf([new Promise<Part>(() => {})], 30).stream.first(), isFailure('timeout'));
});
