import { PARAMETERS } from '#gateway/wires/messages/request/parameters.ts';
import { type Message, pathOf, SYSTEM } from '#gateway/wires/messages/conversation/places.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

/** What a request was read from. */
interface Read {
  readonly body: JsonObject;
  readonly messages: readonly Message[];
}

/** Parameters of chat completions that have another name here. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['enable_thinking', 'thinking.type'],
  ['max_completion_tokens', 'max_tokens'],
  ['model', 'model'],
  ['parallel_tool_calls', 'tool_choice.disable_parallel_tool_use'],
  ['stop', 'stop_sequences'],
  ['thinking_budget', 'thinking.budget_tokens'],
]);

/** The caller's name for a path in the form of chat completions: `messages[3].content` is `messages[2].content[0].content`. */
export function callersName(path: string, { body, messages }: Read): string {
  const [, root = '', rest = ''] = /^([^.[]*)(.*)$/s.exec(path) ?? [];
  const { output_config: config, output_format: oldFormat } = body;
  switch (root) {
    case 'messages': {
      const [, index, inner = ''] = /^\[(\d+)\](.*)$/s.exec(rest) ?? [];
      const message = index === undefined ? undefined : messages[Number(index)];
      return message === undefined ? 'messages' : inMessage(message, inner);
    }
    case 'tools':
      return `tools${rest.replace(/\.function/, '').replace(/\.parameters/, '.input_schema')}`;
    case 'tool_choice':
      return `tool_choice${rest.replace(/\.function/, '')}`;
    case 'response_format':
      return `${oldFormat === undefined ? 'output_config.format' : 'output_format'}${rest.replace(/^\.json_schema/, '')}`;
    case 'reasoning_effort':
      return isJsonObject(config) && typeof config['effort'] === 'string' ? 'output_config.effort' : 'thinking';
    default: {
      const name = NAMES.get(root) ?? (PARAMETERS.has(root) ? root : '');
      return name === '' ? '' : `${name}${rest}`;
    }
  }
}

function inMessage({ origin: { place, parts, calls } }: Message, inner: string): string {
  const [, part, inPart = ''] = /^\.content\[(\d+)\](.*)$/s.exec(inner) ?? [];
  if (part !== undefined) {
    const own = inPart.replace(/^\.image_url\.url/, '.source').replace(/^\.image_url/, '.source');
    return `${pathOf(parts[Number(part)] ?? place)}${own}`;
  }
  const [, call, inCall = ''] = /^\.tool_calls\[(\d+)\](.*)$/s.exec(inner) ?? [];
  if (call !== undefined) {
    const own = inCall.replace(/^\.function/, '').replace(/^\.arguments/, '.input');
    return `${pathOf(calls[Number(call)] ?? place)}${own}`;
  }
  const base = pathOf(place);
  if (place[0] === SYSTEM || inner.startsWith('.reasoning')) return base;
  return `${base}${inner.replace(/^\.tool_call_id/, '.tool_use_id')}`;
}
