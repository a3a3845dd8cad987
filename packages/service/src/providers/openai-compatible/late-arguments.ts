import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import type { Chunk, ChunkChoice } from '#providers/port/completion.ts';

/**
 * A chunk that names a call and says nothing of its arguments waits for the next one. If that has all of them, or ends the choice
 * without any, they go into the chunk that names the call: some clients read it alone. A server such as vLLM sends them next.
 */

/** Whether an event names a call without arguments, so that its chunk waits. An empty text says that they follow. */
export function namesCallOnly(event: unknown): boolean {
  const choices: unknown = isJsonObject(event) ? event['choices'] : undefined;
  return Array.isArray(choices) && choices.some(choiceNamesOnly);
}

function choiceNamesOnly(choice: unknown): boolean {
  const delta = isJsonObject(choice) && typeof choice['finish_reason'] !== 'string' ? choice['delta'] : undefined;
  // Nearly no chunk has calls.
  if (!isJsonObject(delta) || (delta['tool_calls'] === undefined && delta['function_call'] === undefined)) return false;
  return (
    listIn(delta, 'tool_calls').some((call) => isNamedOnly(call['function'])) || isNamedOnly(delta['function_call'])
  );
}

function isNamedOnly(called: unknown): boolean {
  return isJsonObject(called) && typeof called['name'] === 'string' && !isSomething(called['arguments']);
}

function isSomething(value: unknown): boolean {
  const isEmpty = isJsonObject(value) && Object.keys(value).length === 0;
  return value !== undefined && value !== null && !isEmpty;
}

/** The waiting chunk with the arguments that the next one has for its calls, and the next one without them. */
export function withLateArguments(waiting: Chunk, next: Chunk): readonly [waiting: Chunk, next: Chunk] {
  const named = [...waiting.choices];
  const left: ChunkChoice[] = [];
  for (const choice of next.choices) {
    const place = named.findLastIndex(({ index }) => index === choice.index);
    const before = named[place];
    const moved = before === undefined ? undefined : moveArguments(before.delta, choice.delta);
    if (before !== undefined && moved !== undefined) named[place] = { ...before, delta: moved.before };
    left.push(moved === undefined ? choice : { ...choice, delta: moved.after });
  }
  return [
    { ...waiting, choices: named },
    { ...next, choices: left },
  ];
}

interface Deltas {
  readonly before: JsonObject;
  readonly after: JsonObject;
}

/** Undefined if the second delta has nothing for the first one. */
function moveArguments(before: JsonObject, after: JsonObject): Deltas | undefined {
  const { tool_calls: _calls, function_call: _call, ...rest } = after;
  const [named, given] = [listIn(before, 'tool_calls'), listIn(after, 'tool_calls')];
  const taken = new Set<JsonObject>();
  const filled = named.map((call) => {
    // Only the first piece: a chunk may have several of one call. What else the piece has, such as a signature, goes with it.
    const piece = given.find(({ index }) => index === call['index']);
    const isMissing = partOf(call)['arguments'] === '' && typeof partOf(piece)['arguments'] === 'string';
    if (!isMissing || piece === undefined) return call;
    taken.add(piece);
    return { ...call, ...piece, function: { ...partOf(call), ...partOf(piece) } };
  });
  const left = given.filter((call) => !taken.has(call));
  const [oldCall, oldPiece] = [before['function_call'], after['function_call']];
  const isOld = isJsonObject(oldCall) && oldCall['arguments'] === '' && isJsonObject(oldPiece);
  if (taken.size === 0 && !isOld) return undefined;
  return {
    before: {
      ...before,
      ...(named.length > 0 && { tool_calls: filled }),
      ...(isOld && { function_call: { ...oldCall, ...oldPiece } }),
    },
    after: {
      ...rest,
      ...(left.length > 0 && { tool_calls: left }),
      ...(!isOld && oldPiece !== undefined && { function_call: oldPiece }),
    },
  };
}

function partOf(call: JsonObject | undefined): JsonObject {
  const called = call?.['function'];
  return isJsonObject(called) ? called : {};
}

function listIn(object: unknown, name: string): readonly JsonObject[] {
  const list = isJsonObject(object) ? object[name] : undefined;
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}
