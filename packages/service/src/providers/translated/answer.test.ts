import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anthropicDialect } from '#providers/anthropic/dialect.ts';
import { bedrockDialect } from '#providers/bedrock/dialect.ts';
import { googleDialect } from '#providers/google/dialect.ts';
import { finishReasonOf } from '#providers/translated/answer.ts';
import { createToolDeltas } from '#providers/translated/tool-deltas.ts';

const baseUrl = 'https://api.example.test/v1';
const anthropic = anthropicDialect({ baseUrl });
const DIALECTS = [
  anthropic,
  bedrockDialect({ region: 'eu-central-1' }, { requestCredentials: () => assert.fail('no call is made') }),
  googleDialect({ kind: 'google', baseUrl }),
  googleDialect({ kind: 'vertex', baseUrl }),
];

/** Words that mean the same wherever they come from; undefined for a failure. */
const WORDS: readonly (readonly [raw: string, reason: string | undefined])[] = [
  ['model_context_window_exceeded', 'length'],
  ['MAX_LENGTH', 'length'],
  ['time_limit', 'length'],
  ['LANGUAGE', 'content_filter'],
  ['MODEL_ARMOR', 'content_filter'],
  ['guardrail_intervened', 'content_filter'],
  ['content_filtered', 'content_filter'],
  ['MALFORMED_FUNCTION_CALL', undefined],
  ['malformed_model_output', undefined],
  ['OTHER', undefined],
  ['model_error', undefined],
  ['server_error', undefined],
];

test('CC-11 CC-01 a reason to finish means the same in every kind', () => {
  for (const dialect of DIALECTS) {
    for (const [raw, reason] of WORDS) {
      const finish = (): string => finishReasonOf(dialect, { unified: 'other', raw }, true);
      if (reason === undefined) assert.throws(finish, { kind: 'cut' }, `${dialect.kind} ${raw}`);
      else assert.equal(finish(), reason, `${dialect.kind} ${raw}`);
    }
  }
});

test('CC-11 a vendor’s word in other letters is the same word', () => {
  for (const dialect of DIALECTS) {
    for (const raw of ['stop', 'Stop', 'END_TURN', 'FINISH_REASON_STOP', 'endTurn']) {
      const finish = (hasCalls: boolean): string => finishReasonOf(dialect, { unified: 'other', raw }, hasCalls);
      assert.deepEqual([finish(false), finish(true)], ['stop', 'tool_calls'], `${dialect.kind} ${raw}`);
    }
  }
});

test('CC-01 a reason that tells of calls stands only beside calls', () => {
  for (const dialect of DIALECTS) {
    const finish = { unified: 'tool-calls', raw: undefined } as const;
    assert.deepEqual(
      [true, false].map((hasCalls) => finishReasonOf(dialect, finish, hasCalls)),
      ['tool_calls', 'stop'],
    );
  }
});

test('CC-13 a tool call without arguments has an empty object', () => {
  for (const input of ['', ' ', undefined as unknown as string]) {
    const deltas = createToolDeltas(anthropic, undefined);
    deltas.begin({ type: 'tool-input-start', id: 'a', toolName: 'now' });
    const told = deltas.end({ type: 'tool-call', toolCallId: 'a', toolName: 'now', input });
    assert.deepEqual(told, { tool_calls: [{ index: 0, function: { arguments: '{}' } }] });
    const whole = deltas.end({ type: 'tool-call', toolCallId: 'b', toolName: 'now', input });
    assert.match(JSON.stringify(whole), /"arguments":"\{\}"/);
  }
});
