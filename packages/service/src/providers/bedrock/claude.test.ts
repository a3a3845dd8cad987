// What becomes of a call whose credentials do not come, and of frames that are cut anywhere.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHttpClient } from '@purser/upstream-http/client.ts';
import { TextRun } from '@purser/text-runs/text-run.ts';
import fc from 'fast-check';
import { OwnSignal } from '#kernel/work/signal.ts';
import { createBedrockClaude } from '#providers/bedrock/claude.ts';
import { createFrameReader } from '#providers/bedrock/claude-frames.ts';
import { type ProviderCall, type StreamChunk, UpstreamError } from '#providers/port/provider.ts';
import { BLOCKS, eventsOf } from '../../../../../tests/support/claude-upstream.ts';
import { chunkOf } from '../../../../../tests/conformance/providers/vendors/bedrock-invoke.ts';

const CALL: ProviderCall = {
  request: {},
  requestText: '{}',
  providerModel: 'anthropic.claude-haiku-4-5-20251001-v1:0',
  native: { api: 'messages', text: '{"messages":[]}' },
  outputTokens: 9,
  outputLimitParameter: 'max_tokens',
  timeoutMs: 5,
};

function kindOf(kind: UpstreamError['kind']) {
  return (fault: unknown) => fault instanceof UpstreamError && fault.kind === kind;
}

test('CC-17 waiting for AWS credentials counts against the time of a call', async (t) => {
  const client = createHttpClient();
  t.after(client.close);
  const place = { region: 'eu-central-1', endpoint: 'http://127.0.0.1:9' };
  const claude = createBedrockClaude({ place, client, key: undefined, credentials: () => new Promise(() => {}) });
  await assert.rejects(claude.complete(CALL), kindOf('timeout'));
  await assert.rejects(claude.stream(CALL, new OwnSignal()), kindOf('timeout'));
  const signal = new OwnSignal();
  const given = claude.stream({ ...CALL, timeoutMs: 60_000 }, signal);
  signal.abort();
  await assert.rejects(given, kindOf('unsent'));
  await assert.rejects(claude.stream({ ...CALL, timeoutMs: 60_000 }, signal), kindOf('unsent'));
});

function eventsIn(pieces: readonly string[]): readonly unknown[] {
  const reader = createFrameReader();
  const chunks: StreamChunk[] = [];
  for (const piece of pieces) {
    reader.feed(piece);
    chunks.push(...reader.take());
  }
  reader.end();
  chunks.push(...reader.take());
  assert.ok(reader.isDone());
  const parsed = chunks.flatMap((chunk) => (chunk instanceof TextRun ? chunk.chunks : [chunk]));
  return parsed.flatMap(({ native = [] }) => native);
}

test('WI-02 frames of Bedrock mean the same however they are cut', () => {
  const bytes = Buffer.concat(eventsOf({ content: BLOCKS }).map(chunkOf)).toString('latin1');
  const whole = eventsIn([bytes]);
  assert.ok(whole.length > 20);
  const property = fc.property(fc.integer({ min: 1, max: 400 }), (size) => {
    const pieces = bytes.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
    assert.deepEqual(eventsIn(pieces), whole);
  });
  fc.assert(property, { numRuns: 30 });
});
