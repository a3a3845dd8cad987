import type { ValueFault } from '#gateway/parameters/values.ts';
import { addBlock, contentOf, markOf, noParts, type Parts } from '#gateway/wires/messages/conversation/content.ts';
import { isFault } from '#gateway/wires/messages/conversation/faults.ts';
import { type Message, pathOf, type Place, SYSTEM } from '#gateway/wires/messages/conversation/places.ts';
import { readThought, withThoughts } from '#gateway/wires/messages/conversation/thoughts.ts';
import { shortName } from '#gateway/wires/messages/conversation/tools.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

/** A message of the assistant that is being put together: several in a row are one. */
interface Turn extends Parts {
  readonly place: Place;
  readonly calls: JsonObject[];
  readonly callPlaces: Place[];
  readonly details: JsonObject[];
  mark: JsonObject;
}

/** What follows a message of the assistant. Results of tools go first, because they must follow the calls. */
interface Others {
  readonly results: Message[];
  readonly messages: Message[];
}

/** Reads `system` as a message, and `messages` as those of chat completions. */
export function readConversation({ system, messages }: JsonObject): readonly Message[] | ValueFault {
  if (!Array.isArray(messages) || messages.length === 0) {
    return { path: 'messages', expects: 'a non-empty array of messages' };
  }
  const head = readSystem(system);
  if (isFault(head)) return head;
  const said = readMessages(messages);
  if (isFault(said)) return said;
  if (said.length === 0) return { path: 'messages', expects: 'messages of which one says something' };
  return [...head, ...said];
}

/** Claude Code writes this for its vendor's bills. It differs from call to call, so a cache of the prompt would never hit. */
export const BILLING_HEADER = /^x-anthropic-billing-header:/;

function readSystem(system: unknown): readonly Message[] | ValueFault {
  if (system === undefined || system === null || system === '') return [];
  if (typeof system === 'string') return [textMessage('system', system, [SYSTEM])];
  if (!Array.isArray(system)) return { path: 'system', expects: 'a string or an array of text blocks' };
  const read = noParts();
  for (const [index, block] of (system as readonly unknown[]).entries()) {
    const place: Place = [SYSTEM, index];
    const fault = textFault(block, place) ?? addBlock(block as JsonObject, place, read);
    if (fault !== undefined) return fault;
    const { text } = block as JsonObject;
    if (typeof text === 'string' && BILLING_HEADER.test(text)) dropLast(read);
  }
  return read.parts.length === 0 ? [] : [messageOf('system', read, [SYSTEM])];
}

function dropLast({ parts, places }: Parts): void {
  parts.pop();
  places.pop();
}

function textFault(block: unknown, place: Place): ValueFault | undefined {
  if (isJsonObject(block) && block['type'] === 'text') return undefined;
  return { path: pathOf(place), expects: 'a text block: `{"type": "text", "text": "..."}`' };
}

function textMessage(role: string, text: string, place: Place): Message {
  return { message: { role, content: text }, origin: { place, parts: [], calls: [] } };
}

function messageOf(role: string, read: Parts, place: Place): Message {
  return { message: { role, content: contentOf(read) }, origin: { place, parts: read.places, calls: [] } };
}

function readMessages(given: readonly unknown[]): readonly Message[] | ValueFault {
  const read: Message[] = [];
  let turn: Turn | undefined;
  let others: Others = { results: [], messages: [] };
  let hasBegun = false;
  for (const [index, message] of given.entries()) {
    const place: Place = [index];
    const fault = messageFault(message, place);
    if (fault !== undefined) return fault;
    const { role, content } = message as JsonObject;
    if (role === 'assistant' && turn === undefined) {
      for (const one of [...others.results, ...others.messages]) read.push(one);
      others = { results: [], messages: [] };
      turn = { place, ...noParts(), calls: [], callPlaces: [], details: [], mark: {} };
    } else if (role !== 'assistant' && turn !== undefined) {
      if (saysSomething(turn)) read.push(turnMessage(turn));
      turn = undefined;
    }
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : (content as readonly JsonObject[]);
    const bad =
      turn !== undefined
        ? addToTurn(turn, blocks, place)
        : role === 'user'
          ? addUser(others, blocks, place)
          : addSystem(hasBegun ? others.messages : read, blocks, place, hasBegun);
    if (bad !== undefined) return bad;
    hasBegun ||= role !== 'system';
  }
  const last =
    turn !== undefined && saysSomething(turn) ? [turnMessage(turn)] : [...others.results, ...others.messages];
  for (const one of last) read.push(one);
  return read;
}

const ROLES = new Set<unknown>(['user', 'assistant', 'system']);

function messageFault(message: unknown, place: Place): ValueFault | undefined {
  const path = pathOf(place);
  if (!isJsonObject(message)) return { path, expects: 'an object with `role` and `content`' };
  const { role, content } = message;
  if (!ROLES.has(role)) return { path: `${path}.role`, expects: 'one of "user", "assistant", "system"' };
  if (typeof content === 'string') return undefined;
  if (!Array.isArray(content)) return { path: `${path}.content`, expects: 'a string or an array of blocks' };
  if (role !== 'assistant' && content.length === 0) return { path: `${path}.content`, expects: 'at least one block' };
  const bad = content.findIndex((block) => !isJsonObject(block));
  return bad === -1 ? undefined : { path: `${path}.content[${bad}]`, expects: 'an object with a `type`' };
}

function saysSomething({ parts, calls }: Turn): boolean {
  return parts.length > 0 || calls.length > 0;
}

function turnMessage(turn: Turn): Message {
  const { place, parts, places, calls, callPlaces, details, mark } = turn;
  const message = { role: 'assistant', content: parts.length === 0 ? null : contentOf(turn), ...mark };
  return { message: withThoughts(message, calls, details), origin: { place, parts: places, calls: callPlaces } };
}

function addToTurn(turn: Turn, blocks: readonly JsonObject[], [message]: Place): ValueFault | undefined {
  for (const [index, block] of blocks.entries()) {
    const place: Place = [message, index];
    const { type } = block;
    if (type === 'thinking' || type === 'redacted_thinking') {
      const before = turn.parts.length + turn.calls.length + turn.details.length;
      const details = readThought(block, place, before);
      if (isFault(details)) return details;
      for (const detail of details) turn.details.push(detail);
    } else if (type === 'tool_use') {
      const { id, name, input = {} } = block;
      if (!isJsonObject(input)) return { path: `${pathOf(place)}.input`, expects: 'an object: the input of the tool' };
      turn.calls.push({ id, type: 'function', function: { name: shortName(name), arguments: JSON.stringify(input) } });
      turn.callPlaces.push(place);
      const mark = markOf(block, place);
      if (isFault(mark)) return mark;
      turn.mark = { ...turn.mark, ...mark };
    } else {
      // A text of nothing is left out, but its mark must be right.
      const isEmpty = type === 'text' && block['text'] === '';
      const fault = addBlock(block, place, isEmpty ? noParts() : turn);
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

function addUser(others: Others, blocks: readonly JsonObject[], [message]: Place): ValueFault | undefined {
  const said = noParts();
  let hasResults = false;
  for (const [index, block] of blocks.entries()) {
    const place: Place = [message, index];
    const isResult = block['type'] === 'tool_result';
    hasResults ||= isResult;
    const fault = isResult ? addResult(others.results, block, place, said) : addBlock(block, place, said);
    if (fault !== undefined) return fault;
  }
  if (said.parts.length > 0) others.messages.push(messageOf('user', said, [message]));
  else if (!hasResults) others.messages.push(textMessage('user', '', [message]));
  return undefined;
}

const FAILED = 'Error: ';

/** The result of a call. Its images are sent by the user behind it, because few vendors take them from a tool. */
function addResult(results: Message[], block: JsonObject, place: Place, said: Parts): ValueFault | undefined {
  const { tool_use_id: id, content = '', is_error: isError } = block;
  const mark = markOf(block, place);
  if (isFault(mark)) return mark;
  const read = noParts();
  const [message, index = 0] = place;
  if (Array.isArray(content)) {
    for (const [inner, one] of (content as readonly unknown[]).entries()) {
      const at: Place = [message, index, inner];
      if (!isJsonObject(one)) return { path: pathOf(at), expects: 'an object with a `type`' };
      const fault = addBlock(one, at, one['type'] === 'image' ? said : read);
      if (fault !== undefined) return fault;
    }
  } else if (typeof content === 'string') addBlock({ type: 'text', text: content }, place, read);
  else if (content !== null) return { path: `${pathOf(place)}.content`, expects: 'a string or an array of blocks' };
  if (isError === true) markFailed(read, place);
  const inner = takeMark(read);
  results.push({
    message: {
      role: 'tool',
      tool_call_id: id,
      content: read.parts.length === 0 ? '' : contentOf(read),
      ...inner,
      ...mark,
    },
    origin: { place, parts: read.places, calls: [] },
  });
  return undefined;
}

/** The last cache mark in a result, which then stands on the whole: Anthropic's library reads no marks within. */
function takeMark({ parts }: Parts): JsonObject {
  const mark = parts.findLast(({ cache_control: one }) => one !== undefined)?.['cache_control'];
  if (mark === undefined) return {};
  for (const [index, { cache_control: _mark, ...rest }] of parts.entries()) parts[index] = rest;
  return { cache_control: mark };
}

/** Chat completions have no word for it, so the text says that the tool has failed. */
function markFailed({ parts, places }: Parts, place: Place): void {
  const [first] = parts;
  if (first !== undefined && typeof first['text'] === 'string') parts[0] = { ...first, text: FAILED + first['text'] };
  else if (first === undefined) {
    parts.push({ type: 'text', text: FAILED.trim() });
    places.push(place);
  }
}

/**
 * A system message. In the middle, few vendors take one, so it is said by the user in the way in which Claude Code has long marked what
 * the system says.
 */
function addSystem(
  messages: Message[],
  blocks: readonly JsonObject[],
  [message]: Place,
  hasBegun: boolean,
): ValueFault | undefined {
  const read = noParts();
  for (const [index, block] of blocks.entries()) {
    const place: Place = [message, index];
    const fault = textFault(block, place) ?? addBlock(hasBegun ? reminder(block) : block, place, read);
    if (fault !== undefined) return fault;
  }
  messages.push(messageOf(hasBegun ? 'user' : 'system', read, [message]));
  return undefined;
}

function reminder(block: JsonObject): JsonObject {
  const { text } = block;
  return typeof text === 'string' ? { ...block, text: `<system-reminder>\n${text}\n</system-reminder>` } : block;
}
