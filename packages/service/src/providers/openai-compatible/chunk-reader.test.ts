import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UpstreamError } from '#providers/port/provider.ts';
import { createChunkReader } from '#providers/openai-compatible/chunk-reader.ts';
import { TextRun } from '@purser/text-runs/text-run.ts';

const usage = { choices: [], usage: { prompt_tokens: 0, completion_tokens: 0 } };
const text = { choices: [{ delta: { role: 'assistant', content: ' fox' } }] };

/** Reads these chunks twice: as they are, and so that all of them are parsed. Both must give `count` chunks, one of them in a text run. */
function readsAlike(sent: readonly object[], count: number): void {
  const read = (lineEnd: string) => {
    const reader = createChunkReader();
    for (const one of sent) reader.feed(`data: ${JSON.stringify(one)}${lineEnd}${lineEnd}`);
    reader.end();
    return reader.take();
  };
  const came = read('\n');
  const allParsed = read('\r\n'); // An event with other line ends makes no template.
  assert.equal(came.filter((one) => one instanceof TextRun).length, 1);
  assert.equal(allParsed.length, count);
  assert.deepEqual(
    came.flatMap((one) => (one instanceof TextRun ? one.chunks : [one])),
    allParsed,
  );
}

test('CC-11 text after the finish reason gives no second reason', () => {
  const last = { choices: [{ delta: { role: 'assistant', content: ' fox' }, finish_reason: 'stop' }] };
  readsAlike([usage, text, last, text, usage], 5);
});

test('CC-11 a textless chunk after the usage leaves the answer whole', () => {
  const nothing = { choices: [{ delta: { role: 'assistant', content: '' } }] };
  readsAlike([nothing, text, usage, nothing], 5); // The last one is ours: the reason to finish.
});

const piece = (text: string, more = {}) => ({ index: 0, function: { arguments: text }, ...more });

test('CC-13 late arguments in several pieces of one chunk all arrive', () => {
  const reader = createChunkReader();
  const sealed = { extra_content: { google: { thought_signature: 's' } } };
  for (const calls of [
    [{ index: 0, id: 'a', type: 'function', function: { name: 'look' } }],
    [piece('{"a"', sealed), piece(':1}')],
  ])
    reader.feed(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: calls } }] })}\n\n`);
  reader.end();
  const text = JSON.stringify(reader.take());
  assert.ok(text.includes('thought_signature') && text.includes(JSON.stringify(':1}')), text);
});

test('CC-11 an error is no end while a choice has not begun', () => {
  const reader = createChunkReader(Infinity, 2);
  const choices = [{ index: 0, delta: { content: 'one' }, finish_reason: 'stop' }];
  reader.feed(`data: ${JSON.stringify({ choices, usage: { prompt_tokens: 1, completion_tokens: 1 } })}\n\n`);
  assert.throws(() => reader.feed('data: {"error":{"message":"x"}}\n\n'), UpstreamError);
});

test('CC-11 a usage chunk with a message of success is no error', () => {
  const reader = createChunkReader();
  reader.feed(
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] })}\n\n`,
  );
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  reader.feed(`data: ${JSON.stringify({ code: '0', message: 'success', usage })}\n\n`);
  reader.end();
  assert.ok(JSON.stringify(reader.take()).includes('"completion":5'));
});
