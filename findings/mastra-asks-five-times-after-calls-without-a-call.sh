#!/usr/bin/env bash
# Mastra makes five calls for one answer whose reason to finish is `tool_calls`, but which calls no tool.
#
# Versions: @mastra/core 1.71.0 with @ai-sdk/openai-compatible 3.0.74; Node 22 or newer, npm.
# Behaviour: servers of open models send `"finish_reason":"tool_calls"` beside a plain text when a model writes what looks
#   like a call, and no call can be read from it. Mastra takes the word for a step of an agent that goes on, and asks again
#   with the same conversation until its five steps (`maxSteps`) are used up. It then joins the five texts. The older word
#   `function_call` does the same. With `stop`, and the same text, it makes one call. It reports no error.
# Why it matters to a metered gateway: each of the five calls is charged to the user, who asked once, and each has the whole
#   conversation as its prompt. The gateway must send such a reason only beside calls.
# Output seen:
#   stop: 1 call, "Hello"
#   tool_calls: 5 calls, "HelloHelloHelloHelloHello"
#   function_call: 5 calls, "HelloHelloHelloHelloHello"
# Exits 1 if any of this changes.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y > /dev/null
npm install --silent --no-audit --no-fund @mastra/core@1.71.0 @ai-sdk/openai-compatible@3.0.74 zod@4

cat > try.mjs <<'END'
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Agent } from '@mastra/core/agent';

let calls = 0;
const server = createServer((request, response) => {
  calls += 1;
  const [, reason] = request.url.split('/');
  const head = { id: 'c', created: 1, model: 'm' };
  const chunk = (delta, finish_reason = null) =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  let sent = '';
  request.on('data', (part) => (sent += part));
  request.on('end', () => {
    if (JSON.parse(sent).stream) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return response.end(`${chunk({ role: 'assistant', content: 'Hello' })}${chunk({}, reason)}data: [DONE]\n\n`);
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    const message = { role: 'assistant', content: 'Hello' };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    response.end(JSON.stringify({ ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: reason }], usage }));
  });
}).listen(0, '127.0.0.1');
await once(server, 'listening');

for (const reason of ['stop', 'tool_calls', 'function_call']) {
  calls = 0;
  const baseURL = `http://127.0.0.1:${server.address().port}/${reason}`;
  const model = createOpenAICompatible({ name: 'p', baseURL, apiKey: 'k' })('m');
  const { text } = await new Agent({ id: 'a', name: 'a', instructions: 'Be brief.', model }).generate('Hello');
  console.log(`${reason}: ${calls} call${calls === 1 ? '' : 's'}, ${JSON.stringify(text)}`);
}
process.exit(0);
END
seen=$(MASTRA_TELEMETRY_DISABLED=1 node try.mjs 2> said) || { cat said; exit 1; }
printf '%s\n' "$seen"
diff <(printf '%s\n' "$seen") - <<'END'
stop: 1 call, "Hello"
tool_calls: 5 calls, "HelloHelloHelloHelloHello"
function_call: 5 calls, "HelloHelloHelloHelloHello"
END
