import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import type { ChunkChoice, CompletionChoice, FinishReason } from '#providers/port/completion.ts';
import { meaningOfReason } from '#providers/answers/finish-reasons.ts';
import { missingReason } from '#providers/answers/missing-reasons.ts';
import { withoutParts } from '#providers/answers/content-parts.ts';
import { createFunctionCall, withWholeArguments } from '#providers/answers/call-arguments.ts';
import { createToolCallOrder, wholeToolCalls } from '#providers/answers/tool-calls.ts';

/**
 * Completes the choices of each chunk of one stream: clients of the format need fields that providers leave out. A field that
 * is there and right stays as it is, and so does one that the format does not know.
 */
export function createChoiceShape(): (choices: readonly JsonObject[]) => readonly ChunkChoice[] {
  const orders = new Map<number, CallOrder>();
  const finished = new Set<number>();

  return (choices) =>
    choices.map((choice, place) => {
      const index = indexOf(choice, place);
      // Clients that join chunks read "stopstop" where a reason comes twice.
      const reason = finished.has(index) ? null : (knownReasonOf(choice['finish_reason']) ?? null);
      if (reason !== null) finished.add(index);
      const order = orders.get(index) ?? createCallOrder();
      const isFirst = !orders.has(index);
      if (isFirst) orders.set(index, order);
      const { delta: given } = choice;
      const said = withRole(isJsonObject(given) ? withoutParts(given) : {}, isFirst);
      const delta = order.take(said, reason !== null);
      return fixed(choice, { index, delta, finish_reason: reason && fitting(reason, order) });
    });
}

/** The first delta of a choice says who speaks. Some clients fail without that, and some on any other word later. */
function withRole(delta: JsonObject, isFirst: boolean): JsonObject {
  const { role } = delta;
  if (role === 'assistant' || (role === undefined && !isFirst)) return delta;
  const { role: _role, ...rest } = delta;
  return isFirst ? { role: 'assistant', ...rest } : rest;
}

/** Which calls a choice has: of tools, and of a function in the old way. */
interface Called {
  readonly ofTools: boolean;
  readonly ofFunction: boolean;
}

interface CallOrder extends Called {
  readonly take: (delta: JsonObject, isEnd: boolean) => JsonObject;
}

/** The calls in the deltas of one choice. Each has arguments by the end of the choice. */
function createCallOrder(): CallOrder {
  // Most choices have no calls.
  let tools: ReturnType<typeof createToolCallOrder> | undefined;
  let old: ReturnType<typeof createFunctionCall> | undefined;
  const called = { ofTools: false, ofFunction: false };

  function take(delta: JsonObject, isEnd: boolean): JsonObject {
    const calls = Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : undefined;
    const call = isJsonObject(delta['function_call']) ? delta['function_call'] : undefined;
    if (calls !== undefined) tools ??= createToolCallOrder();
    if (call !== undefined) old ??= createFunctionCall();
    const hasCalled = tools !== undefined || old !== undefined;
    if (!hasCalled || (calls === undefined && call === undefined && !isEnd)) return delta;
    const taken = calls === undefined ? [] : (tools?.take(calls) ?? []);
    const whole = isEnd ? (tools?.ended(taken) ?? taken) : taken;
    const functionCall = old?.(call, isEnd);
    called.ofTools ||= whole.length > 0;
    called.ofFunction ||= functionCall !== undefined;
    return fixed(delta, {
      ...((calls !== undefined || whole.length > 0) && { tool_calls: sameOr(calls ?? [], whole) }),
      ...(functionCall !== undefined && { function_call: functionCall }),
    });
  }
  return Object.assign(called, { take });
}

/** Completes a choice of a whole answer in the same way. `place`: its index if it has none. `isAtLimit`: of the output. */
export function wholeChoice(
  choice: JsonObject,
  given: JsonObject,
  { place, isAtLimit }: { readonly place: number; readonly isAtLimit: boolean },
): CompletionChoice {
  const { logprobs = null } = choice;
  const message = Array.isArray(given['content']) ? withoutParts(given) : given;
  const { refusal = null, tool_calls: calls, function_call: call } = message;
  const called = { ofTools: Array.isArray(calls) && calls.length > 0, ofFunction: isJsonObject(call) };
  const isSilent = refusal === null && !called.ofTools && !called.ofFunction;
  // Some agents ask again and again after an answer that is null (`docs/CLIENTS.md`).
  const content = message['content'] ?? (isSilent ? '' : null);
  const reason = knownReasonOf(choice['finish_reason']);
  const toolCalls = Array.isArray(calls) ? { tool_calls: sameOr(calls, wholeToolCalls(calls)) } : {};
  const functionCall = isJsonObject(call) ? { function_call: withWholeArguments(call) } : {};
  return fixed(choice, {
    index: indexOf(choice, place),
    message: fixed(message, { role: 'assistant', content, refusal, ...toolCalls, ...functionCall }),
    logprobs,
    // An unknown word means at least that the answer has ended.
    finish_reason: reason === undefined ? missingReason(message, isAtLimit) : fitting(reason, called),
  });
}

function indexOf({ index }: JsonObject, place: number): number {
  return typeof index === 'number' && Number.isInteger(index) ? index : place;
}

/** Words of servers that write down that there is no reason yet. */
const NO_REASON = /^(?:|null|none|nil|undefined|not_?finished|unfinished|in_progress|running|continue)$/i;

/** Returns true if a choice of a whole answer says why it ended. */
export function isFinished({ finish_reason: reason }: JsonObject): boolean {
  return typeof reason === 'string' && !NO_REASON.test(reason);
}

/** The reason in the words of the format; undefined if there is none, or an unknown one. */
function knownReasonOf(reason: unknown): FinishReason | undefined {
  if (typeof reason !== 'string') return undefined;
  const meaning = meaningOfReason(reason);
  return meaning === 'failed' ? undefined : meaning;
}

/** The words of choices that may be reasons which we do not know, by choice. Only what follows tells: they end nothing that goes on. */
export function unknownWordsIn(choices: readonly unknown[]): ReadonlyMap<number, string> | undefined {
  let words: Map<number, string> | undefined;
  for (const [place, choice] of choices.entries()) {
    if (!isJsonObject(choice) || !isFinished(choice)) continue;
    const word = String(choice['finish_reason']);
    if (knownReasonOf(word) === undefined) (words ??= new Map()).set(indexOf(choice, place), word);
  }
  return words;
}

/** A reason that tells of calls, only where there are some: agents ask again after calls without any, and each time is charged. */
function fitting(reason: FinishReason, { ofTools, ofFunction }: Called): FinishReason {
  if (reason === 'tool_calls') return ofTools ? reason : 'stop';
  if (reason === 'function_call' && !ofFunction) return ofTools ? 'tool_calls' : 'stop';
  return reason;
}

/** The object with these fields; the object itself if it has them, so that its fields keep their order. */
function fixed<Fields extends JsonObject>(object: JsonObject, fields: Fields): JsonObject & Fields {
  return hasAll(object, fields) ? object : { ...object, ...fields };
}

function hasAll<Fields extends JsonObject>(object: JsonObject, fields: Fields): object is JsonObject & Fields {
  const names = Object.keys(fields);
  for (let at = 0; at < names.length; at += 1) {
    const name = names[at] as string;
    if (object[name] !== fields[name]) return false;
  }
  return true;
}

/** The first list if the second one holds the same. */
function sameOr(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  return after.length === before.length && after.every((item, index) => item === before[index]) ? before : after;
}
