import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outputTokensDeliverable } from '#gateway/usage/hold-request.ts';
import { ANSWER_BYTES_MAX } from '#providers/port/provider.ts';

/** A token as the most talkative provider writes it: indented, each of its bytes on a line. */
function listed(token: string, top: number): object {
  const entry = { token, logprob: -12.345678901234567, bytes: [...Buffer.from(token)] };
  return { ...entry, top_logprobs: Array.from({ length: top }, () => entry) };
}

test('CC-24 the longest possible answer fits, with any token lists', () => {
  for (const [request, choices] of [
    [{}, 1],
    [{ n: 128 }, 128],
    [{ logprobs: true }, 1],
    [{ logprobs: true, top_logprobs: 5 }, 3],
    [{ logprobs: true, top_logprobs: 20 }, 1],
    [{ logprobs: true, top_logprobs: 20 }, 128],
  ] as const) {
    const { logprobs = false, top_logprobs: top = 0 } = request as { logprobs?: boolean; top_logprobs?: number };
    const tokens = outputTokensDeliverable(request, choices);
    assert.ok(tokens >= 16, `${tokens} tokens are too few for any call`);
    const message = { role: 'assistant', content: ' token', reasoning_content: ' token' };
    const nested = { choices: [{ logprobs: { content: [listed(' token', top)] } }] };
    const entryBytes = logprobs ? Buffer.byteLength(JSON.stringify(nested, undefined, 2)) : 0;
    const textBytes = message.content.length + message.reasoning_content.length;
    const bytes = choices * tokens * (textBytes + entryBytes);
    assert.ok(bytes <= ANSWER_BYTES_MAX, `${JSON.stringify(request)}: ${bytes} bytes`);
  }
});
