import type { ValueFault } from '#gateway/parameters/values.ts';
import { readContent } from '#gateway/wires/responses/conversation/content.ts';
import type { Item } from '#gateway/wires/responses/conversation/input-items.ts';
import type { Opener } from '#gateway/wires/responses/conversation/opener.ts';
import { readReasoning } from '#gateway/wires/responses/conversation/reasoning.ts';
import { CUSTOM_INPUT, namespaceFault, type ToolSet } from '#gateway/wires/responses/conversation/tools.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

/** What reading a conversation needs. */
interface MessageContext {
  readonly opener: Opener;
  readonly tools: ToolSet;
}

/** A message of chat completions, and where its parts are in the input. */
export interface Message {
  readonly message: JsonObject;
  readonly origin: Origin;
}

export interface Origin {
  /** The item, or the name of a parameter that is a message. */
  readonly item: number | 'instructions' | 'input';
  readonly role: 'message' | 'tool';
  /** The items and parts that the parts of the content are. Empty if the content is a text. */
  readonly parts: readonly (readonly [item: number, part: number])[];
  /** The items that the tool calls are. */
  readonly calls: readonly number[];
}

/** A message of the assistant that is being put together: one turn is several items. */
interface Turn {
  readonly place: number;
  /** A text alone, which stays one. */
  text: unknown;
  textPlace: number;
  readonly parts: unknown[];
  readonly partPlaces: (readonly [item: number, part: number])[];
  readonly calls: JsonObject[];
  readonly callPlaces: number[];
  readonly details: JsonObject[];
  /** How many items it is. */
  items: number;
  hasContent: boolean;
}

/** Reads the items as messages, in their order. Thoughts, a text and calls that follow each other are one message. */
export function readMessages(items: readonly Item[], context: MessageContext): readonly Message[] | ValueFault {
  const messages: Message[] = [];
  let turn: Turn | undefined;
  const close = (): void => {
    if (turn !== undefined && (turn.hasContent || turn.calls.length > 0)) messages.push(messageOf(turn));
    turn = undefined;
  };
  for (const { place, item } of items) {
    const path = `input[${place}]`;
    const kind = kindOf(item);
    if (kind === 'assistant') {
      if (turn?.hasContent === true && turn.calls.length === 0) close();
      turn ??= newTurn(place);
      turn.items += 1;
      const fault = addText(turn, item, place, path);
      if (fault !== undefined) return fault;
    } else if (kind === 'call') {
      const fault = namespaceFault(item, path);
      if (fault !== undefined) return fault;
      if (item['type'] === 'custom_tool_call' && typeof item['input'] !== 'string') {
        return { path: `${path}.input`, expects: 'a string: the input of the tool' };
      }
      turn ??= newTurn(place);
      turn.calls.push(callOf(item, context.tools));
      turn.callPlaces.push(place);
      turn.items += 1;
    } else if (kind === 'reasoning') {
      turn ??= newTurn(place);
      const details = readReasoning(item, path, turn.items, context.opener);
      if (!Array.isArray(details)) return details as ValueFault;
      for (const detail of details as readonly JsonObject[]) turn.details.push(detail);
      turn.items += 1;
    } else if (kind !== 'passed over') {
      close();
      const read = kind === 'output' ? outputOf(item, place, path) : otherMessage(item, place, path);
      if (!('message' in read)) return read;
      messages.push(read);
    }
  }
  close();
  return messages;
}

type Kind = 'assistant' | 'message' | 'call' | 'output' | 'reasoning' | 'passed over' | 'unknown';

/** What vendors add to a conversation beside messages and calls. It says nothing to another model. */
const PASSED_OVER = new Set<unknown>([
  'additional_tools',
  'image_generation_call',
  'tool_search_call',
  'tool_search_output',
  'web_search_call',
]);
const CALLS = new Set<unknown>([
  'function_call',
  'custom_tool_call',
  'local_shell_call',
  'shell_call',
  'apply_patch_call',
]);
const OUTPUTS = new Set<unknown>([...CALLS].map((type) => `${String(type)}_output`));

function kindOf({ type, role }: JsonObject): Kind {
  if (type === 'message' || ((type === undefined || type === null) && role !== undefined)) {
    return role === 'assistant' ? 'assistant' : 'message';
  }
  if (type === 'reasoning') return 'reasoning';
  if (CALLS.has(type)) return 'call';
  if (OUTPUTS.has(type)) return 'output';
  return PASSED_OVER.has(type) ? 'passed over' : 'unknown';
}

function newTurn(place: number): Turn {
  const empty = { text: undefined, textPlace: place, items: 0, hasContent: false };
  return { place, ...empty, parts: [], partPlaces: [], calls: [], callPlaces: [], details: [] };
}

function messageOf({ place, text, parts, partPlaces, calls, callPlaces, details, hasContent }: Turn): Message {
  const extras = new Map(details.filter(isExtra).map(({ id, extra_content: extra }) => [id, extra]));
  const whole = calls.map((call) =>
    extras.has(call['id']) ? { ...call, extra_content: extras.get(call['id']) } : call,
  );
  const thoughts = details.filter((detail) => !isExtra(detail) && fieldOf(detail) === undefined);
  const message = {
    role: 'assistant',
    content: hasContent ? (parts.length === 0 ? text : parts) : null,
    ...(calls.length === 0 ? {} : { tool_calls: whole }),
    ...(thoughts.length === 0 ? {} : { reasoning_details: thoughts }),
    ...(calls.length === 0 ? {} : plainThoughts(details)),
  };
  return { message, origin: { item: place, role: 'message', parts: partPlaces, calls: callPlaces } };
}

/** What a vendor wants back with a call. This wire has no place for it in the call, so it came sealed in an item of reasoning. */
function isExtra({ type }: JsonObject): boolean {
  return type === 'tool_call.extra_content';
}

/** The field of a message in which a vendor wants a thought back that has no seal. */
function fieldOf({ type }: JsonObject): 'reasoning' | 'reasoning_content' | undefined {
  if (type === 'message.reasoning') return 'reasoning';
  return type === 'message.reasoning_content' ? 'reasoning_content' : undefined;
}

/** What led to calls. Some models go on thinking only with it, and some vendors refuse calls without it. */
function plainThoughts(details: readonly JsonObject[]): JsonObject {
  const fields: Record<string, string> = {};
  for (const detail of details) {
    const field = fieldOf(detail);
    if (field !== undefined) fields[field] = (fields[field] ?? '') + String(detail['text']);
  }
  return fields;
}

const CONTENT = 'a string or an array of parts';

/** Adds a text to a turn. What is said after a call stays in its message, because the answers to calls must follow them. */
function addText(turn: Turn, item: JsonObject, place: number, path: string): ValueFault | undefined {
  const read = readContent(item['content'], `${path}.content`);
  if ('path' in read) return read;
  const { content } = read;
  if (content === undefined || content === null) return { path: `${path}.content`, expects: CONTENT };
  if (Array.isArray(content) && content.length === 0) return undefined; // An answer that said nothing.
  if (!turn.hasContent && !Array.isArray(content)) {
    turn.text = content;
    turn.textPlace = place;
  } else {
    if (turn.parts.length === 0 && turn.hasContent) addPart(turn, { type: 'text', text: turn.text }, turn.textPlace, 0);
    const parts: readonly unknown[] = Array.isArray(content) ? content : [{ type: 'text', text: content }];
    for (const [index, part] of parts.entries()) addPart(turn, part, place, index);
  }
  turn.hasContent = true;
  return undefined;
}

function addPart(turn: Turn, part: unknown, place: number, index: number): void {
  turn.parts.push(part);
  turn.partPlaces.push([place, index]);
}

/** A call. Its words are checked as those of a tool call of chat completions. */
function callOf(item: JsonObject, tools: ToolSet): JsonObject {
  const { type, call_id: id, name, namespace, arguments: given, input } = item;
  if (type !== 'function_call' && type !== 'custom_tool_call') return foreignCall(item);
  const tool = {
    type: type === 'function_call' ? 'function' : 'custom',
    name: String(name),
    namespace: typeof namespace === 'string' ? namespace : undefined,
  } as const;
  const named = typeof name === 'string' ? tools.functionOf(tool) : name;
  const written = type === 'function_call' ? given : JSON.stringify({ [CUSTOM_INPUT]: input });
  return { id, type: 'function', function: { name: named, arguments: written } };
}

/** A call of a tool that only vendors who speak this wire have. Another model reads it as one of a function. */
function foreignCall({ type, call_id: id, id: _id, status: _status, ...rest }: JsonObject): JsonObject {
  return {
    id,
    type: 'function',
    function: { name: String(type).replace(/_call$/, ''), arguments: JSON.stringify(rest) },
  };
}

function outputOf(item: JsonObject, place: number, path: string): Message | ValueFault {
  const { type, call_id: id, output } = item;
  const isForeign = type !== 'function_call_output' && type !== 'custom_tool_call_output';
  const read = isForeign && typeof output !== 'string' ? foreignOutput(item) : readContent(output, `${path}.output`);
  if ('path' in read) return read;
  const isEmpty = Array.isArray(read.content) && read.content.length === 0;
  const parts = Array.isArray(read.content) ? read.content.map((_, part) => [place, part] as const) : [];
  return {
    message: { role: 'tool', tool_call_id: id, content: isEmpty ? '' : read.content },
    origin: { item: place, role: 'tool', parts, calls: [] },
  };
}

function foreignOutput({ output, status }: JsonObject): { readonly content: unknown } {
  return { content: JSON.stringify(output ?? status ?? null) };
}

const ROLES = new Set<unknown>(['user', 'system', 'developer']);

function otherMessage(item: JsonObject, place: number, path: string): Message | ValueFault {
  const { type, role } = item;
  if (kindOf(item) === 'unknown') return unknownItem(type, path);
  if (!ROLES.has(role)) {
    return { path: `${path}.role`, expects: 'one of "developer", "system", "user", "assistant"' };
  }
  const read = readContent(item['content'], `${path}.content`);
  if ('path' in read) return read;
  const parts = Array.isArray(read.content) ? read.content.map((_, part) => [place, part] as const) : [];
  return { message: { role, content: read.content }, origin: { item: place, role: 'message', parts, calls: [] } };
}

const ITEMS =
  '"message", "reasoning", "function_call", "function_call_output", "custom_tool_call" or "custom_tool_call_output"';

function unknownItem(type: unknown, path: string): ValueFault {
  if (typeof type !== 'string') return { path: `${path}.type`, expects: ITEMS };
  return {
    path: `${path}.type`,
    expects: `${ITEMS}: what tools of vendors have done is not taken, so leave the item out`,
  };
}

/** The text of one parameter as a message. */
export function textMessage(name: 'instructions' | 'input', role: string, content: unknown): Message {
  return { message: { role, content }, origin: { item: name, role: 'message', parts: [], calls: [] } };
}

export function isFault(read: unknown): read is ValueFault {
  return isJsonObject(read) && 'expects' in read && 'path' in read;
}
