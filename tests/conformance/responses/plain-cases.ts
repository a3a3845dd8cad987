import { createReply } from '../../../packages/service/src/gateway/wires/responses/reply/reply.ts';
import type { Echo, Sealing } from '../../../packages/service/src/gateway/wires/responses/conversation/echo.ts';
import type { JsonObject } from '../../../packages/service/src/kernel/text/json.ts';
import type { Completion, FinishReason } from '../../../packages/service/src/providers/port/completion.ts';
import { NATIVE_ITEM } from './stream-cases.ts';
import { callOfReply, echoOf, openSealing, TOLD } from './streams.ts';

/** A whole answer, as callers get it. */
export function answered(
  completion: Completion,
  { echo = echoOf(), sealing = openSealing() }: { readonly echo?: Echo; readonly sealing?: Sealing } = {},
): JsonObject {
  return createReply(echo, sealing).plain(callOfReply(), completion, TOLD);
}

export function completionOf(message: JsonObject, reason: FinishReason = 'stop', more: JsonObject = {}): Completion {
  return { choices: [{ index: 0, message, finish_reason: reason, ...more }], usage: undefined, extra: {} };
}

export const SEALED_THOUGHT = [
  { type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', text: 'Let me see.', signature: 'sig' },
];
const CALLING: JsonObject = {
  role: 'assistant',
  content: 'Wait.',
  reasoning_content: 'Let me see.',
  reasoning_details: SEALED_THOUGHT,
  tool_calls: [
    {
      id: 'call_1',
      type: 'function',
      function: { name: 'get_weather', arguments: '{"city":"Rome"}' },
      extra_content: { google: { thought_signature: 'gem' } },
    },
    { id: 'call_2', type: 'function', function: { name: 'exec', arguments: '{"input":"ls\\n"}' } },
    { id: 'call_3', type: 'function', function: { name: 'ns__look', arguments: '{}' } },
  ],
};
export const TOOLS = echoOf({ temperature: 0.5, metadata: { a: 'b' } }, [
  ['ns__look', { type: 'function', name: 'look', namespace: 'ns' }],
  ['exec', { type: 'custom', name: 'exec' }],
]);
/** Settings as they are said again: of schemas and lists, the names alone. */
const SETTINGS = echoOf({
  max_output_tokens: 100,
  reasoning: { effort: 'low', summary: 'auto' },
  text: { verbosity: 'low', format: { type: 'json_schema', name: 'answer' } },
  tool_choice: { type: 'allowed_tools', mode: 'auto' },
});
export const NATIVE: JsonObject = {
  id: 'resp_vendor',
  object: 'response',
  model: 'vendor-1',
  status: 'incomplete',
  incomplete_details: { reason: 'max_output_tokens' },
  instructions: 'hidden',
  user: 'pseudonym',
  store: true,
  service_tier: 'flex',
  reasoning: { effort: 'low', summary: null },
  output: [{ id: 'rs_v', type: 'reasoning', summary: [], encrypted_content: 'vendor' }, NATIVE_ITEM],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
};
const TOKEN = { token: 'Hi', logprob: -0.1, bytes: null, top_logprobs: [{ token: 'Hi', logprob: -0.1 }] };

/** Whole answers of all sorts. */
export const PLAIN_CASES: Readonly<Record<string, () => JsonObject>> = {
  text: () => answered(completionOf({ role: 'assistant', content: 'Hi' })),
  settings: () => answered(completionOf({ content: 'Hi' }), { echo: SETTINGS }),
  'nothing at all': () => answered(completionOf({ role: 'assistant', content: '' })),
  'thoughts and calls': () => answered(completionOf(CALLING, 'tool_calls'), { echo: TOOLS }),
  'sealed ids': () =>
    answered(completionOf(CALLING, 'tool_calls'), { echo: TOOLS, sealing: openSealing({ isStored: true }) }),
  'a refusal': () => answered(completionOf({ role: 'assistant', content: null, refusal: 'No.' })),
  'a picture': () =>
    answered(completionOf({ content: 'Here', images: [{ image_url: { url: 'data:image/svg+xml;base64,PHN2Zy8+' } }] })),
  'a citation': () =>
    answered(
      completionOf({
        content: 'See',
        annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.example' } }],
      }),
    ),
  probabilities: () => answered(completionOf({ content: 'Hi' }, 'stop', { logprobs: { content: [TOKEN] } })),
  'the output limit': () => answered(completionOf({ content: 'Hi' }, 'length')),
  'a filter': () => answered(completionOf({ content: 'Hi' }, 'content_filter')),
  'a Response of a vendor': () => answered({ ...completionOf({ content: 'Hi' }, 'length'), native: NATIVE }),
};
