import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChunkReader } from '#providers/openai-compatible/chunk-reader.ts';
import { TextRun } from '@purser/text-runs/text-run.ts';

test('CC-11 text after the reason to finish gives no second reason, whether or not its chunk is parsed', () => {
  const usage = { choices: [], usage: { prompt_tokens: 0, completion_tokens: 0 } };
  const text = { choices: [{ delta: { role: 'assistant', content: ' fox' } }] };
  const last = { choices: [{ delta: { role: 'assistant', content: ' fox' }, finish_reason: 'stop' }] };
  const read = (lineEnd: string) => {
    const reader = createChunkReader();
    for (const one of [usage, text, last, text, usage]) reader.feed(`data: ${JSON.stringify(one)}${lineEnd}${lineEnd}`);
    reader.end();
    return reader.take();
  };
  const came = read('\n');
  const allParsed = read('\r\n'); // An event with other line ends makes no template.
  assert.equal(came.filter((one) => one instanceof TextRun).length, 1);
  assert.equal(allParsed.length, 5);
  assert.deepEqual(
    came.flatMap((one) => (one instanceof TextRun ? one.chunks : [one])),
    allParsed,
  );
});
