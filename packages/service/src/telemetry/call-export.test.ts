import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallNotes } from '#gateway/call/call-notes.ts';
import type { FailedTry, Served } from '#gateway/call/serving.ts';
import type { CorrelationId } from '#kernel/values/ids.ts';
import { createLog } from '#kernel/log.ts';
import { startCallExport } from '#telemetry/call-export.ts';
import { type EndedCall, spansOf } from '#telemetry/call-spans.ts';
import { startOtlpReceiver } from '../../../../tests/support/otlp-receiver.ts';
import { upstreamAt } from '../../../../tests/support/route-stage.ts';

const SPAN = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  parentId: undefined,
  isSampled: true,
  state: undefined,
};

/** A call that is over, as the server leaves it. */
function ended(outcome: string, more: Partial<CallNotes> = {}, served: Partial<Served> = {}): EndedCall {
  const notes = new CallNotes({ name: 'chat', path: '/v1/chat/completions', takesLargeBodies: false });
  const from = notes.times.startMs;
  Object.assign(notes.times, { admittedMs: from + 1, heldMs: from + 2, endedMs: from + 9, doneMs: from + 12 });
  const way = { upstream: upstreamAt('first'), tries: 1, isAnswered: false, sentMs: from + 3, failedTries: undefined };
  Object.assign(notes, { span: SPAN, served: { ...way, ...served }, ...more });
  return { notes, correlationId: outcome as CorrelationId, status: 200, outcome };
}

function failedBy(kind: FailedTry['kind']): FailedTry {
  return { upstream: upstreamAt('first'), count: 1, sentMs: 3, endedMs: 5, kind, status: undefined };
}

function clientSpan(call: EndedCall) {
  const span = spansOf(call, SPAN).find(({ kind }) => kind === 'client');
  return [span?.hasFailed, span?.attributes['error.type'], span?.attributes['gen_ai.usage.output_tokens']];
}

test('OP-07 CC-11 a broken stream has failed, unlike a request we gave up', () => {
  assert.deepEqual(clientSpan(ended('abandoned', {}, { failedTries: [failedBy('given-up')] })), [
    false,
    'given-up',
    undefined,
  ]);
  assert.deepEqual(clientSpan(ended('failed', {}, { failedTries: [failedBy('timeout')] })), [
    true,
    'timeout',
    undefined,
  ]);
  const failure = { provider: 'first', providerModel: 'large', kind: 'cut', status: undefined } as const;
  assert.deepEqual(clientSpan(ended('failed', { failure }, { isAnswered: true })), [true, 'cut', 0]);
  assert.deepEqual(clientSpan(ended('answered', { completionTokens: 7 }, { isAnswered: true })), [false, undefined, 7]);
});

test('OP-07 WI-11 a trace calls embeddings by their own operation', () => {
  const wire = { name: 'embeddings', path: '/v1/embeddings', takesLargeBodies: true } as const;
  for (const served of [{ isAnswered: true }, { failedTries: [failedBy('timeout')] }]) {
    const spans = spansOf(ended('answered', { wire }, served), SPAN);
    const told = spans.filter(({ kind }) => kind !== 'internal');
    assert.deepEqual(
      told.map(({ name, attributes }) => [name, attributes['gen_ai.operation.name']]),
      [
        ['POST /v1/embeddings', 'embeddings'],
        ['embeddings large', 'embeddings'],
      ],
    );
  }
});

function settlement(call: EndedCall) {
  return spansOf(call, SPAN).find(({ name }) => name === 'settlement');
}

test('OP-07 a call whose settlement failed says so', () => {
  const lost = ended('failed');
  assert.deepEqual([settlement(lost)?.hasFailed, settlement(lost)?.endMs], [true, lost.notes.times.doneMs]);
  const settled = ended('answered', {}, { isAnswered: true });
  settled.notes.times.settledMs = settled.notes.times.startMs + 11;
  assert.equal(settlement(settled)?.hasFailed, false);
});

function unsampled(spanId: string, parentId?: string) {
  return { ...SPAN, spanId, isSampled: false, parentId };
}

test('OP-07 beyond the share, only failed calls are exported', async (t) => {
  const receiver = await startOtlpReceiver();
  t.after(receiver.close);
  const target = { url: `${receiver.url}/v1/traces`, protocol: 'http/json', headers: {}, timeoutMs: 5_000 } as const;
  const exported = async (share: number, calls: readonly EndedCall[]) => {
    const before = receiver.spans().length;
    const { end, stop } = startCallExport({
      target: { ...target, isCompressed: true },
      sampler: { followsParent: true, share },
      everyMs: 1_000,
      origin: { resource: {}, version: '0.1.0' },
      log: createLog('silent'),
    });
    for (const call of calls) end(call);
    await stop();
    const roots = receiver.spans().slice(before);
    return roots.flatMap(({ attributes }) => attributes['purser.outcome'] ?? []);
  };
  const calls = [
    ended('answered', { span: unsampled('b7ad6b7169200100') }),
    ended('refused', { span: unsampled('b7ad6b7169200200') }),
    ended('failed', { span: unsampled('b7ad6b7169200300') }),
    ended('failed', { span: unsampled('b7ad6b7169200400', '00f067aa0ba902b7') }),
  ];
  assert.deepEqual(await exported(0, calls), []);
  assert.deepEqual(await exported(0.01, calls), ['failed']);
  assert.ok(receiver.spans().some(({ attributes }) => attributes['purser.sampling'] === 'failure'));
});
