import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOpenAiCompatible } from '#providers/openai-compatible/adapter.ts';
import type { OpenAnswer } from '#providers/http/open-exchange.ts';
import type { UpstreamHttp } from '#providers/upstream-http.ts';

const CHUNK = 'data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n';

/** Answers each stream with chunks without end. */
function endless(): UpstreamHttp {
  const answer: OpenAnswer = {
    status: 200,
    listen: (listener) => void listener?.onText(CHUNK),
    finish: () => {},
    discard: () => {},
  };
  return {
    endpoint: () => ({ whole: () => assert.fail('nothing plain is asked'), open: () => Promise.resolve(answer) }),
    close: () => {},
  };
}

function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

test('WA-07 a stream that is not read on has no timer of its own, which would keep its request', async () => {
  const provider = createOpenAiCompatible({ http: endless(), baseUrl: 'http://provider.test/v1', apiKey: undefined });
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
