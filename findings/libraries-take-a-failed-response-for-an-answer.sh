#!/usr/bin/env bash
# A stream of Responses that ends with `response.failed` is an answer to the vendor's own library, and to LangChain: nothing is raised.
#
# Versions: openai 7.59.0, @langchain/openai 1.6.0 with @langchain/core 1.4.0, ai 7.0.173 with @ai-sdk/openai 4.0.118; Node 22 or newer, npm.
# Behaviour: a server sends half a text and then the event `response.failed` with an error, as OpenAI documents it. The loop over
#   `responses.create({ stream: true })` ends, the helper `responses.stream(...).finalResponse()` resolves (with the status "failed" and
#   whatever output the event has), and LangChain returns the half text as the message. If an event `error` follows, all of them raise.
#   The AI SDK reports an error either way. A bare `error` is no way out: Codex CLI 0.171.0 shows its words only with `response.failed`.
# Why it matters to a metered gateway: a failed call costs nothing, but an app that takes half an answer for a whole one stores it, shows
#   it, and builds its next calls on it. Only both events, in this order, tell everybody.
# Output seen:
#   failed: loop "Half", helper "failed", LangChain "Half", AI SDK error
#   failed, then error: loop error, helper error, LangChain error, AI SDK error
# Exits 1 if any of this changes.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y > /dev/null
npm install --silent --no-audit --no-fund --ignore-scripts openai@7.59.0 @langchain/openai@1.6.0 @langchain/core@1.4.0 ai@7.0.173 @ai-sdk/openai@4.0.118

cat > try.mjs <<'END'
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createOpenAI } from '@ai-sdk/openai';
import { ChatOpenAI } from '@langchain/openai';
import { streamText } from 'ai';
import OpenAI from 'openai';

let hasError = false;
const RESPONSE = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', output: [], parallel_tool_calls: true, tool_choice: 'auto', tools: [], metadata: {}, temperature: 1, top_p: 1, instructions: null, incomplete_details: null, error: null, usage: null };
const server = createServer((_, response) => {
  const said = { code: 'server_error', message: 'It failed.' };
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const part = { type: 'output_text', text: '', annotations: [], logprobs: [] };
  const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] };
  const events = [
    { type: 'response.created', response: { ...RESPONSE, status: 'in_progress' } },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.content_part.added', ...at, part },
    { type: 'response.output_text.delta', ...at, delta: 'Half', logprobs: [] },
    { type: 'response.failed', response: { ...RESPONSE, status: 'failed', error: said } },
    ...(hasError ? [{ type: 'error', param: null, ...said }] : []),
  ];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [index, event] of events.entries()) {
    response.write(`event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: index })}\n\n`);
  }
  response.end();
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const baseURL = `http://127.0.0.1:${server.address().port}/v1`;
const client = new OpenAI({ baseURL, apiKey: 'k', maxRetries: 0 });

const ways = {
  loop: async () => {
    let text = '';
    for await (const event of await client.responses.create({ model: 'm', input: 'Hello', stream: true })) {
      if (event.type === 'response.output_text.delta') text += event.delta;
    }
    return text;
  },
  helper: async () => (await client.responses.stream({ model: 'm', input: 'Hello' }).finalResponse()).status,
  LangChain: async () => {
    const model = new ChatOpenAI({ model: 'a-codex', apiKey: 'k', configuration: { baseURL }, maxRetries: 0 });
    let text = '';
    for await (const chunk of await model.stream('Hello')) text += chunk.text;
    return text;
  },
  'AI SDK': async () => {
    const model = createOpenAI({ baseURL, apiKey: 'k' })('m');
    const result = streamText({ model, prompt: 'Hello', maxRetries: 0, onError: () => {} });
    let text = '';
    for await (const part of result.fullStream) {
      if (part.type === 'error') throw part.error;
      if (part.type === 'text-delta') text += part.text;
    }
    return text;
  },
};
for (hasError of [false, true]) {
  const seen = [];
  for (const [name, way] of Object.entries(ways)) seen.push(`${name} ${await way().then(JSON.stringify, () => 'error')}`);
  console.log(`${hasError ? 'failed, then error' : 'failed'}: ${seen.join(', ')}`);
}
process.exit(0);
END
seen=$(node try.mjs 2> said) || { cat said; exit 1; }
printf '%s\n' "$seen"
diff <(printf '%s\n' "$seen") - <<'END'
failed: loop "Half", helper "failed", LangChain "Half", AI SDK error
failed, then error: loop error, helper error, LangChain error, AI SDK error
END
