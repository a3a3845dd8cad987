#!/usr/bin/env bash
# ferrogw answers 200 to calls whose effort, tier and cache marks it has taken out: the caller pays the full price and is not told.
#
# Versions: ferrogw 1.5.10 (PyPI, a static Go binary for Linux); Python 3 with pip, Node 20 or newer.
# Behaviour: a chat call goes on with the parameters that the gateway knows. `reasoning_effort`, `verbosity`, `service_tier`,
#   `prompt_cache_key`, `prediction` and the `cache_control` of a part of a message are gone, without a warning in the answer. What
#   the upstream says of the tier and of tokens written to a cache is taken out of the answer as well. The same gateway passes a
#   Responses call on as it came, with `reasoning` and `service_tier`.
# Why it matters to a metered gateway: behind this one, a model thinks as much as it likes where the caller asked for little, a
#   `flex` call is billed at the full price, a prompt is never cached by its marks, and writing to a cache looks like plain input.
#   A price cannot be chosen by what was asked or answered. Models with efforts or tiers are to be bought by its Responses route.
# Output seen (what the upstream got beside model and messages; what the caller got of the tier and the cache):
#   chat, sent: max_completion_tokens
#   chat, a part of the message: {"type":"text","text":"Hello"}
#   chat, answered: tier undefined, prompt {"cached_tokens":800}
#   responses, sent: max_output_tokens, reasoning, service_tier
# Exits 1 if any of this changes.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m pip install --quiet --no-deps --only-binary=:all: --target gateway ferrogw==1.5.10 2> /dev/null
echo '{"strategy":{"mode":"single"},"targets":[{"virtual_key":"openai"}]}' > config.json

cat > try.mjs <<'END'
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

let sent;
const upstream = createServer(async (request, response) => {
  sent = JSON.parse(Buffer.concat(await request.toArray()).toString());
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({
    id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'gpt-5', service_tier: 'flex',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
    usage: {
      prompt_tokens: 1000, completion_tokens: 2, total_tokens: 1002,
      prompt_tokens_details: { cached_tokens: 800, cache_write_tokens: 100 },
    },
  }));
}).listen(0, '127.0.0.1');
await once(upstream, 'listening');
const probe = createServer().listen(0, '127.0.0.1');
await once(probe, 'listening');
const { port } = probe.address();
probe.close();
const gateway = spawn('gateway/bin/ferrogw', ['serve'], {
  stdio: 'ignore',
  env: {
    PORT: String(port), GATEWAY_CONFIG: 'config.json', MASTER_KEY: 'fgw_master_of_this_test', OPENAI_API_KEY: 'key',
    OPENAI_BASE_URL: `http://127.0.0.1:${upstream.address().port}`,
  },
});
const url = `http://127.0.0.1:${port}`;
while (!(await fetch(`${url}/health`).then(({ ok }) => ok, () => false))) await wait(50);

async function call(path, body) {
  const headers = { authorization: 'Bearer fgw_master_of_this_test', 'content-type': 'application/json' };
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify({ model: 'gpt-5', ...body }) });
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
  return response.json();
}
const namesOf = ({ model: _model, messages: _messages, input: _input, ...rest }) => Object.keys(rest).sort().join(', ');

const part = { type: 'text', text: 'Hello', cache_control: { type: 'ephemeral' } };
const answer = await call('/v1/chat/completions', {
  messages: [{ role: 'user', content: [part] }],
  max_completion_tokens: 9,
  reasoning_effort: 'minimal',
  verbosity: 'low',
  service_tier: 'flex',
  prompt_cache_key: 'one',
  prediction: { type: 'content', content: 'Hi.' },
});
console.log(`chat, sent: ${namesOf(sent)}`);
console.log(`chat, a part of the message: ${JSON.stringify(sent.messages[0].content[0])}`);
const { prompt_tokens_details: prompt } = answer.usage;
console.log(`chat, answered: tier ${answer.service_tier}, prompt ${JSON.stringify(prompt)}`);
await call('/v1/responses', { input: 'Hello', max_output_tokens: 9, reasoning: { effort: 'minimal' }, service_tier: 'flex' });
console.log(`responses, sent: ${namesOf(sent)}`);
gateway.kill();
upstream.closeAllConnections();
upstream.close();
END

cat > seen.txt <<'END'
chat, sent: max_completion_tokens
chat, a part of the message: {"type":"text","text":"Hello"}
chat, answered: tier undefined, prompt {"cached_tokens":800}
responses, sent: max_output_tokens, reasoning, service_tier
END
node try.mjs | tee found.txt
diff seen.txt found.txt
