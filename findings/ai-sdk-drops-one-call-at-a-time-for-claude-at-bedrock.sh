#!/usr/bin/env bash
# The Claude of `@ai-sdk/amazon-bedrock/anthropic` forgets that a model may call one tool at a time only, and warns nobody.
#
# Versions: @ai-sdk/amazon-bedrock 5.0.101, @ai-sdk/anthropic 4.0.84; Node 22 or newer, npm.
# Behaviour: with `disableParallelToolUse: true`, the library sends `disable_parallel_tool_use` to Anthropic, and by Converse to
#   Bedrock. By InvokeModel it writes the choice of tools anew from its type and name, and the rest is gone. There is no warning.
# Why it matters to a metered gateway: a caller who has switched several calls off gets and pays for them, as soon as the same
#   model is bought at Bedrock. A gateway that serves Messages there has to write the choice of tools itself.
# Output seen (what stands in the choice of tools that is sent):
#   Anthropic: {"type":"auto","disable_parallel_tool_use":true}
#   Bedrock, InvokeModel: {"type":"auto"}, 0 warnings
#   Bedrock, Converse: {"tool_choice":{"type":"auto","disable_parallel_tool_use":true}}
# Exits 1 if any of this changes.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y > /dev/null
npm install --silent --no-audit --no-fund @ai-sdk/amazon-bedrock@5.0.101 @ai-sdk/anthropic@4.0.84

cat > try.mjs <<'END'
import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { createBedrockAnthropic } from '@ai-sdk/amazon-bedrock/anthropic';
import { createAnthropic } from '@ai-sdk/anthropic';

let sent;
const answer = {
  id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [{ type: 'text', text: 'Hi.' }],
  stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 },
  output: { message: { role: 'assistant', content: [{ text: 'Hi.' }] } }, stopReason: 'end_turn',
};
const fetch = async (_url, { body }) => {
  sent = JSON.parse(body);
  answer.usage = { ...answer.usage, inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  return new Response(JSON.stringify(answer), { headers: { 'content-type': 'application/json' } });
};
const asked = {
  prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
  tools: [{ type: 'function', name: 'look', inputSchema: { type: 'object', properties: {} } }],
  toolChoice: { type: 'auto' },
  maxOutputTokens: 9,
  providerOptions: { anthropic: { disableParallelToolUse: true } },
};
const here = { region: 'us-east-1', apiKey: 'key', fetch };
const NAME = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';

await createAnthropic({ apiKey: 'key', fetch })('claude-sonnet-4-5').doGenerate(asked);
console.log(`Anthropic: ${JSON.stringify(sent.tool_choice)}`);
const { warnings } = await createBedrockAnthropic(here)(NAME).doGenerate(asked);
console.log(`Bedrock, InvokeModel: ${JSON.stringify(sent.tool_choice)}, ${warnings.length} warnings`);
await createAmazonBedrock(here)(NAME).doGenerate(asked);
console.log(`Bedrock, Converse: ${JSON.stringify(sent.additionalModelRequestFields)}`);
END

cat > seen.txt <<'END'
Anthropic: {"type":"auto","disable_parallel_tool_use":true}
Bedrock, InvokeModel: {"type":"auto"}, 0 warnings
Bedrock, Converse: {"tool_choice":{"type":"auto","disable_parallel_tool_use":true}}
END
node try.mjs | tee found.txt
diff seen.txt found.txt
