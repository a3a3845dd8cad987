import assert from 'node:assert/strict';
import { test } from 'node:test';
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
