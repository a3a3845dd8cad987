// Responses and their events, as OpenAI writes them. Like the scripted upstream, it shares nothing with the service.
import type { UpstreamScript, UpstreamStep } from './scripted-upstream.ts';

/** 20 tokens of input, 8 of them cached, and 11 of output, 6 of them reasoning. */
export const RESPONSE_USAGE = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 8 },
  output_tokens: 11,
  output_tokens_details: { reasoning_tokens: 6 },
  total_tokens: 31,
};

/** A message with one text. */
export function messageItem(text: string, more: object = {}) {
  return {
    id: 'msg_1',
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', annotations: [], logprobs: [], text }],
    ...more,
  };
}

export function reasoningItem(summary: readonly string[], sealed?: string, id = 'rs_1') {
  return {
    id,
    type: 'reasoning',
    summary: summary.map((text) => ({ type: 'summary_text', text })),
    ...(sealed !== undefined && { encrypted_content: sealed }),
  };
}

export function callItem(name: string, args: string, callId = 'call_1') {
  return { id: `fc_${callId}`, type: 'function_call', status: 'completed', call_id: callId, name, arguments: args };
}

/** A call of a custom tool, which takes a text. */
export function customCallItem(name: string, input: string, namespace?: string) {
  const tool = { name, ...(namespace !== undefined && { namespace }) };
  return { id: 'ctc_call_1', type: 'custom_tool_call', status: 'completed', call_id: 'call_1', ...tool, input };
}

/** What the vendor says beside its answer. A good part of it is of the operator's account. */
const BESIDE = {
  object: 'response',
  created_at: 1_770_000_000,
  background: false,
  billing: { payer: 'developer' },
  error: null,
  instructions: 'The operator says so.',
  max_output_tokens: 100,
  model: 'gpt-9-2026-11-01',
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: 'pck_secret',
  reasoning: { effort: 'medium', summary: null },
  safety_identifier: 'sid_secret',
  service_tier: 'flex',
  store: false,
  temperature: 1,
  text: { format: { type: 'text' }, verbosity: 'medium' },
  tool_choice: 'auto',
  tools: [],
  top_p: 0.98,
  truncation: 'disabled',
  user: 'user_secret',
  metadata: {},
};

/** A whole response with these items. */
export function responseOf(output: readonly object[], more: object = {}) {
  return {
    id: 'resp_1',
    ...BESIDE,
    status: 'completed',
    incomplete_details: null,
    output,
    usage: RESPONSE_USAGE,
    ...more,
  };
}

/** A plain answer. */
export function responding(output: readonly object[], more: object = {}): UpstreamScript {
  return { body: JSON.stringify(responseOf(output, more)) };
}

interface Event {
  readonly type: string;
  readonly [name: string]: unknown;
}

/** The events of one item, with its texts in these many pieces. */
function eventsOfItem(
  item: ReturnType<typeof messageItem | typeof reasoningItem | typeof callItem | typeof customCallItem>,
  index: number,
) {
  const at = { item_id: item.id, output_index: index };
  const events: Event[] = [];
  const say = (type: string, fields: object) => void events.push({ type: `response.${type}`, ...fields });
  if ('summary' in item) {
    say('output_item.added', { output_index: index, item: { ...item, summary: [], encrypted_content: '' } });
    for (const [place, part] of item.summary.entries()) {
      const of = { ...at, summary_index: place };
      say('reasoning_summary_part.added', { ...of, part: { type: 'summary_text', text: '' } });
      for (const delta of piecesOf(part.text)) say('reasoning_summary_text.delta', { ...of, delta, obfuscation: 'x' });
      say('reasoning_summary_text.done', { ...of, text: part.text });
      say('reasoning_summary_part.done', { ...of, part });
    }
  } else if ('input' in item) {
    say('output_item.added', { output_index: index, item: { ...item, status: 'in_progress', input: '' } });
    for (const delta of piecesOf(item.input)) say('custom_tool_call_input.delta', { ...at, delta, obfuscation: 'x' });
    say('custom_tool_call_input.done', { ...at, input: item.input });
  } else if ('call_id' in item) {
    say('output_item.added', { output_index: index, item: { ...item, status: 'in_progress', arguments: '' } });
    for (const delta of piecesOf(item.arguments)) say('function_call_arguments.delta', { ...at, delta });
    say('function_call_arguments.done', { ...at, arguments: item.arguments, name: item.name });
  } else {
    say('output_item.added', { output_index: index, item: { ...item, status: 'in_progress', content: [] } });
    for (const [place, part] of item.content.entries()) {
      const of = { ...at, content_index: place };
      say('content_part.added', { ...of, part: { ...part, text: '' } });
      for (const delta of piecesOf(part.text))
        say('output_text.delta', { ...of, delta, logprobs: [], obfuscation: 'yz' });
      say('output_text.done', { ...of, text: part.text, logprobs: [] });
      say('content_part.done', { ...of, part });
    }
  }
  say('output_item.done', { output_index: index, item });
  return events;
}

/** Two pieces of a text, so that something is left to join. */
function piecesOf(text: string): readonly string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== '');
}

/** The events of a whole stream. `more` is said by its last event, `type` is that of the last. */
export function responseEvents(
  output: readonly Parameters<typeof eventsOfItem>[0][],
  more: object = {},
  type = 'response.completed',
): readonly Event[] {
  const begun = { ...responseOf([], { status: 'in_progress', usage: null }) };
  return [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...output.flatMap(eventsOfItem),
    { type, response: responseOf(output, more) },
  ].map((event, sequence_number) => ({ ...event, sequence_number }));
}

/** One event as it is sent. */
export function eventFrame(event: Event): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Events as steps, one write each. */
export function eventSteps(events: readonly Event[]): readonly UpstreamStep[] {
  return events.map((event) => ({ write: eventFrame(event) }));
}

/** A streamed answer. */
export function streaming(output: Parameters<typeof responseEvents>[0], more: object = {}): UpstreamScript {
  return { body: eventSteps(responseEvents(output, more)) };
}
