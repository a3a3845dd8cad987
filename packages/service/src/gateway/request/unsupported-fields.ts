import type { ModelSupport } from '#gateway/call/wire.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

const ASKED = { role: 'user', content: 'a' };
const MARK = { cache_control: { type: 'ephemeral' } };
const MARKED_TOOLS = [{ type: 'function', function: { name: 'a' }, ...MARK }];
const MARKED_MESSAGES = [{ role: 'user', content: [{ type: 'text', text: 'a', ...MARK }] }];
const CALL = { id: 'a', type: 'function', function: { name: 'a', arguments: '{}' }, extra_content: {} };
const CALLED = [
  ASKED,
  { role: 'assistant', content: null, tool_calls: [CALL] },
  { role: 'tool', tool_call_id: 'a', content: 'a' },
];

/** What an earlier answer may have left in a message of the assistant, and one with it. */
const LEFT: readonly (readonly [name: string, messages: readonly JsonObject[]])[] = [
  ['reasoning', [ASKED, { role: 'assistant', content: 'a', reasoning: 'a' }, ASKED]],
  ['reasoning_content', [ASKED, { role: 'assistant', content: 'a', reasoning_content: 'a' }, ASKED]],
  ['reasoning_details', [ASKED, { role: 'assistant', content: 'a', reasoning_details: [{}] }, ASKED]],
];

/** What none of a model's vendors takes in messages or tools. */
interface UnsupportedFields {
  readonly marks: boolean;
  readonly marksOfTools: boolean;
  readonly fields: readonly string[];
  readonly extras: boolean;
}

/** It takes five tries to find out, for an object that is the same for each call of a model. */
const known = new WeakMap<ModelSupport, UnsupportedFields>();

/**
 * The request without cache marks and without what vendors want back with an answer, where the model's vendors have no place for them.
 * Clients send the same conversation to every model: marks change no answer, and thoughts of another vendor say nothing to this one.
 */
export function withoutUnsupportedFields(request: JsonObject, supports: ModelSupport): JsonObject {
  const unsupported = known.get(supports) ?? unsupportedBy(supports);
  known.set(supports, unsupported);
  const { marksOfTools, extras, fields } = unsupported;
  if (!marksOfTools && !extras && fields.length === 0) return request;
  const { messages, tools } = request;
  return {
    ...request,
    messages: eachOf(messages, (message) => messageWithout(message, unsupported)),
    ...(marksOfTools && tools !== undefined
      ? { tools: eachOf(tools, (tool) => without(tool, ['cache_control'])) }
      : {}),
  };
}

function unsupportedBy(supports: ModelSupport): UnsupportedFields {
  const marks = !supports.parameter('messages', MARKED_MESSAGES);
  const marksOfTools = marks || !supports.parameter('tools', MARKED_TOOLS);
  const fields = LEFT.filter(([, messages]) => !supports.parameter('messages', messages)).map(([name]) => name);
  const extras = !supports.parameter('messages', CALLED);
  return { marks, marksOfTools, fields, extras };
}

function messageWithout(message: JsonObject, { marks, fields, extras }: UnsupportedFields): JsonObject {
  const kept = without(message, marks ? [...fields, 'cache_control'] : fields);
  const { content, tool_calls: calls } = kept;
  return {
    ...kept,
    ...(marks && Array.isArray(content)
      ? { content: eachOf(content, (part) => without(part, ['cache_control'])) }
      : {}),
    ...(extras && Array.isArray(calls)
      ? { tool_calls: eachOf(calls, (call) => without(call, ['extra_content'])) }
      : {}),
  };
}

function eachOf(items: unknown, change: (item: JsonObject) => JsonObject): unknown {
  if (!Array.isArray(items)) return items;
  return (items as readonly unknown[]).map((item) => (isJsonObject(item) ? change(item) : item));
}

function without(item: JsonObject, names: readonly string[]): JsonObject {
  if (!names.some((name) => item[name] !== undefined)) return item;
  return Object.fromEntries(Object.entries(item).filter(([name]) => !names.includes(name)));
}
