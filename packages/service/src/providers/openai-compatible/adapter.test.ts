import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HttpClient, StreamedResponse } from '@purser/upstream-http/client.ts';
import { atAddress } from '#providers/compatible-entry.ts';

const CHUNK = 'data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n';

/** Answers each streamed call with chunks that never end. */
function endless(): HttpClient {
  const response: StreamedResponse = {
    status: 200,
    listen: (listener) => void listener?.onText(CHUNK),
    finish: () => {},
    readError: () => assert.fail('the test has no error'),
    discard: () => {},
  };
  return {
    endpoint: () => ({
      postBuffered: () => assert.fail('the test makes no buffered call'),
      postStreamed: () => Promise.resolve(response),
    }),
    close: () => {},
  };
}

function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

test('WA-07 an unread stream starts no timer of its own', async () => {
  const provider = atAddress(endless(), 'http://provider.test/v1', undefined);
  const before = timers();
  const caller = new AbortController();
  const request = { model: 'm', messages: [] };
  const stream = await provider.stream(
    {
      request,
      requestText: '{"messages":[]}',
      providerModel: 'm',
      outputTokens: 1,
      outputLimitParameter: 'max_tokens',
      timeoutMs: 600_000,
    },
    caller.signal,
  );
  const first = await stream.first();
  assert.equal(first?.length, 1);
  assert.equal(timers(), before);
});
