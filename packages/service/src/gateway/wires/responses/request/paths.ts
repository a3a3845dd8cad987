import type { Message, Origin } from '#gateway/wires/responses/conversation/messages.ts';
import { LOGPROBS, PARAMETERS } from '#gateway/wires/responses/request/parameters.ts';
import type { JsonObject } from '#kernel/text/json.ts';

/** What a request was read from. */
interface Read {
  readonly body: JsonObject;
  readonly messages: readonly Message[];
  readonly toolPaths: readonly string[];
}

/** Parameters of chat completions that have another name here. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['max_completion_tokens', 'max_output_tokens'],
  ['messages', 'input'],
  ['model', 'model'],
  ['reasoning_effort', 'reasoning.effort'],
  ['verbosity', 'text.verbosity'],
]);

/** The caller's name for a path in the form of chat completions: `messages[3].content[0].text` is `input[2].content[0].text`. */
export function callersName(path: string, { body, messages, toolPaths }: Read): string {
  const [, root = '', rest = ''] = /^([^.[]*)(.*)$/s.exec(path) ?? [];
  switch (root) {
    case 'messages':
      return placed(rest, (at, inner) => {
        const origin = messages[at]?.origin;
        return origin === undefined ? undefined : inMessage(origin, inner);
      });
    case 'tools':
      return placed(
        rest,
        (at, inner) => {
          const tool = toolPaths[at];
          return tool === undefined ? undefined : `${tool}${inner.replace(/^\.function/, '')}`;
        },
        'tools',
      );
    case 'tool_choice':
      return path.replace(/\.(?:function|allowed_tools)/g, '');
    case 'response_format':
      return `text.format${rest.replace(/^\.json_schema/, '')}`;
    case 'logprobs':
      return Array.isArray(body['include']) && body['include'].includes(LOGPROBS) ? 'include' : 'top_logprobs';
    default: {
      const name = NAMES.get(root) ?? (PARAMETERS.has(root) ? root : '');
      return name === '' ? '' : `${name}${rest}`;
    }
  }
}

/** Splits `[3].content` into its index and what follows. */
function placed(rest: string, nameOf: (index: number, inner: string) => string | undefined, whole = 'input'): string {
  const [, index, inner = ''] = /^\[(\d+)\](.*)$/s.exec(rest) ?? [];
  return (index === undefined ? undefined : nameOf(Number(index), inner)) ?? whole;
}

function inMessage({ item, role, parts, calls }: Origin, inner: string): string {
  if (typeof item === 'string') return item;
  const base = `input[${item}]`;
  const content = role === 'tool' ? 'output' : 'content';
  const [, part, inPart = ''] = /^\.content\[(\d+)\](.*)$/s.exec(inner) ?? [];
  if (part !== undefined) {
    const [ofItem, ofPart] = parts[Number(part)] ?? [item, Number(part)];
    return `input[${ofItem}].${content}[${ofPart}]${inPart.replace(/^\.image_url\.url/, '.image_url').replace(/^\.image_url\.detail/, '.detail')}`;
  }
  const [, call, inCall = ''] = /^\.tool_calls\[(\d+)\](.*)$/s.exec(inner) ?? [];
  if (call !== undefined) {
    const name = inCall.replace(/^\.function/, '').replace(/^\.id$/, '.call_id');
    return `input[${calls[Number(call)] ?? item}]${name}`;
  }
  if (inner.startsWith('.reasoning_details')) return base;
  return `${base}${inner.replace(/^\.content/, `.${content}`).replace(/^\.tool_call_id/, '.call_id')}`;
}
