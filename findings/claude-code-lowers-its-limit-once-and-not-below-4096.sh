#!/usr/bin/env bash
# Claude Code comes back at once with the limit of output that a 400 names, but only with the first one, and only from 4,096 on.
#
# Versions: @anthropic-ai/claude-code 2.1.332; Linux with `unshare` and `ip`, Node 20 or newer, npm.
# Behaviour: it asks for 32,000 tokens, is told "max_tokens: 32000 > N, which is the maximum allowed number of output tokens for
#   M", and asks again with N. If N is below 4,096, it asks for 32,000 five times more, and prints the message as its answer. If
#   the call with N is told a lower limit, it sends that call twice more and then begins anew: six calls in place of three.
# Why it matters to a metered gateway: it has several limits for one call, of the model, of the wallet and of a budget. The
#   first refusal must name the lowest of all, and a wallet that pays for fewer than 4,096 tokens is better told so in words.
# Output seen (the limits, what it asked for, and what it printed):
#   16000: 32000 16000, Hello
#   4096: 32000 4096, Hello
#   4095: 32000 32000 32000 32000 32000 32000, API Error: 400
#   24000 then 16000: 32000 24000 24000 24000 32000 16000, Hello
# Exits 1 if any of this changes.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y > /dev/null
npm install --silent --no-audit --no-fund @anthropic-ai/claude-code@2.1.332

cat > try.mjs <<'END'
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';

/** The limits that the first call and the ones behind it meet. The last holds. */
let limits = [];
let asked = [];
const server = createServer((request, response) => {
  let sent = '';
  request.on('data', (part) => (sent += part));
  request.on('end', () => {
    if (request.method !== 'POST') return response.writeHead(404).end();
    const { max_tokens: most, model } = JSON.parse(sent);
    const limit = limits[Math.min(asked.length, limits.length - 1)];
    asked.push(most);
    if (most > limit) {
      const message = `max_tokens: ${most} > ${limit}, which is the maximum allowed number of output tokens for ${model}`;
      response.writeHead(400, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } }));
    }
    const usage = { input_tokens: 9, output_tokens: 1 };
    const events = [
      { type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null, usage } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
      { type: 'message_stop' },
    ];
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
  });
}).listen(0, '127.0.0.1');
await once(server, 'listening');
mkdirSync('home');

for (limits of [[16_000], [4_096], [4_095], [24_000, 16_000]]) {
  asked = [];
  const program = `node_modules/@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`;
  const child = spawn(`${process.cwd()}/${program}`, ['-p', 'Hello', '--tools', 'Read', '--model', 'large'], {
    cwd: 'home',
    env: {
      PATH: '/usr/bin:/bin',
      HOME: `${process.cwd()}/home`,
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.address().port}`,
      ANTHROPIC_AUTH_TOKEN: 'key',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (part) => (said += part));
  await once(child, 'close');
  console.log(`${limits.join(' then ')}: ${asked.join(' ')}, ${said.trim().slice(0, 14)}`);
}
process.exit(0);
END
seen=$(unshare --map-root-user --net sh -c 'ip link set lo up && node try.mjs' 2> said) || { cat said; exit 1; }
printf '%s\n' "$seen"
diff <(printf '%s\n' "$seen") - <<'END'
16000: 32000 16000, Hello
4096: 32000 4096, Hello
4095: 32000 32000 32000 32000 32000 32000, API Error: 400
24000 then 16000: 32000 24000 24000 24000 32000 16000, Hello
END
