import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { ResponseListener, StreamedResponse } from '@purser/upstream-http/client.ts';
import { createChunkReader } from '#providers/openai-compatible/chunk-reader.ts';
import { ChunkStream } from '#providers/openai-compatible/chunk-stream.ts';

const STREAMS = 100;
const CHUNKS = 500;
const KEPT_BYTES_MAX = 4 * 1024 * 1024;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Events of some 100 KB, as one read of a socket brings them. */
function textOf(stream: number): string {
  const events = Array.from({ length: CHUNKS }, (_, index) => {
    const finish_reason = index === CHUNKS - 1 ? 'stop' : null;
    const content = `word ${index} of the stream ${stream}, and a little more text`;
    return `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta: { content }, finish_reason }] })}\n\n`;
  });
  return Buffer.from(`${events.join('')}data: [DONE]\n\n`).toString();
}

function responseWith(text: string): StreamedResponse {
  let unread = text;
  const listen = (listener: ResponseListener | undefined): void => {
    const read = unread;
    if (listener === undefined || read === '') return;
    unread = '';
    listener.onText(read);
  };
  return { status: 200, listen, readError: noError, finish: () => {}, discard: () => {} };
}

test('CC-24 a stream that has ended keeps none of its text', async () => {
  collect();
  const before = process.memoryUsage().heapUsed;
  const ended: ChunkStream[] = [];
  for (let stream = 0; stream < STREAMS; stream += 1) {
    const chunks = new ChunkStream(responseWith(textOf(stream)), createChunkReader());
    await chunks.rest(() => true);
    assert.ok(chunks.isWhole());
    ended.push(chunks);
  }
  collect();
  const kept = process.memoryUsage().heapUsed - before;
  assert.ok(kept < KEPT_BYTES_MAX, `${ended.length} streams keep ${kept} bytes`);
});

function noError(): never {
  assert.fail('the test has no error');
}
