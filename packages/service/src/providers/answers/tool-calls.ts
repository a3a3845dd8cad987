import { UpstreamError } from '#providers/port/provider.ts';
import { isJsonObject, type JsonObject, parseJson } from '#kernel/text/json.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';
import {
  type ArgumentsSoFar,
  argumentsText,
  missingArguments,
  withArguments,
  withWholeArguments,
} from '#providers/answers/call-arguments.ts';

const ID_LENGTH = 24;
/** The calls of one choice. No honest one comes near it, and each delta is looked for among all. */
const CALLS_MAX = 1_024;

/** A tool call of one choice, as far as its deltas have come. */
interface ToolCall extends ArgumentsSoFar {
  /** It is called with arguments, and not with a text for its input. */
  isOfFunction: boolean;
  /** Where it stands in what the caller reads. */
  readonly index: number;
  /** Where the provider says that it stands: may be missing, or shared with another. */
  readonly givenIndex: number | undefined;
  givenId: string | undefined;
  name: string | undefined;
  /** The arguments are kept only where the provider gave no id: then what is whole tells one call from the next. */
  arguments: string;
}

interface ToolCallOrder {
  readonly take: (deltas: readonly unknown[]) => readonly JsonObject[];
  /** The last deltas of the choice, with the arguments of calls that have none. */
  readonly ended: (taken: readonly JsonObject[]) => readonly JsonObject[];
}

/**
 * Makes the tool-call deltas of one choice what clients expect: calls numbered from 0 without a gap, an id and a type on
 * the first delta of each, the name once, and arguments that are JSON text. Providers count from 1, use one number for two
 * calls, or send no numbers, ids or arguments; clients merge such calls or fail. What is right already is given back as it is.
 */
export function createToolCallOrder(): ToolCallOrder {
  const calls: ToolCall[] = [];

  function callOf(delta: JsonObject, touched: ReadonlySet<ToolCall>): ToolCall | undefined {
    const id = textOf(delta['id']);
    const index = indexOf(delta);
    const name = nameOf(delta);
    const before = index === undefined ? calls.at(-1) : calls.findLast((call) => call.givenIndex === index);
    if (id === undefined) return before !== undefined && goesOn(before, delta, touched) ? before : undefined;
    if (before?.givenId === id) return before;
    const known = calls.findLast((call) => call.givenId === id);
    // One id for two calls: its name and another number tell that this is the second.
    const isAnother = name !== undefined && index !== undefined && known?.givenIndex !== index;
    if (known !== undefined) return isAnother ? undefined : known;
    // An id that comes late belongs to the call that began without.
    return before?.givenId === undefined && name === undefined ? before : undefined;
  }

  function take(deltas: readonly unknown[]): readonly JsonObject[] {
    const touched = new Set<ToolCall>();
    return deltas.filter(isJsonObject).map((given) => {
      const known = callOf(given, touched);
      const isIdTaken = calls.some(({ givenId }) => givenId !== undefined && givenId === given['id']);
      const call = known ?? { index: calls.length, givenIndex: indexOf(given), ...UNKNOWN };
      if (known === undefined && calls.push(call) > CALLS_MAX) {
        throw new UpstreamError('too-large', 'The provider sent more calls than an answer can have.');
      }
      touched.add(call);
      const isNamed = call.name !== undefined;
      call.givenId ??= textOf(given['id']);
      call.name ??= nameOf(given);
      if (call.givenId === undefined) call.arguments += argumentsText(partOf(given)['arguments']);
      const delta = withText(given, call);
      return known === undefined ? firstDelta(delta, call, isIdTaken) : laterDelta(delta, call, isNamed);
    });
  }

  function ended(taken: readonly JsonObject[]): readonly JsonObject[] {
    const deltas = [...taken];
    for (const call of calls) {
      const missing = call.isOfFunction ? missingArguments(call) : undefined;
      if (missing === undefined) continue;
      const { index } = call;
      const place = deltas.findLastIndex((delta) => delta['index'] === index);
      const delta = deltas[place];
      if (delta === undefined) deltas.push({ index, function: { arguments: missing } });
      else deltas[place] = { ...delta, function: { ...partOf(delta), arguments: missing } };
    }
    return deltas;
  }

  return { take, ended };
}

const UNKNOWN = { givenId: undefined, name: undefined, arguments: '', isOfFunction: false, hasArguments: false };

/** The delta with its arguments as text. */
function withText(delta: JsonObject, call: ToolCall): JsonObject {
  const { function: called } = delta;
  if (!isJsonObject(called)) return delta;
  call.isOfFunction = true;
  const said = withArguments(called, call);
  return said === called ? delta : { ...delta, function: said };
}

/** Whether a delta without an id belongs to this call. A name begins another, unless the provider but repeats it. */
function goesOn(call: ToolCall, delta: JsonObject, touched: ReadonlySet<ToolCall>): boolean {
  const name = nameOf(delta);
  if (name === undefined || call.name === undefined) return true;
  return name === call.name && !touched.has(call) && !isWhole(call.arguments);
}

function isWhole(text: string): boolean {
  return text.trimEnd().endsWith('}') && isJsonObject(parseJson(text));
}

function firstDelta(delta: JsonObject, { index }: ToolCall, isIdTaken: boolean): JsonObject {
  const id = (isIdTaken ? undefined : textOf(delta['id'])) ?? newToolCallId();
  const type = textOf(delta['type']) ?? 'function';
  const isRight = delta['index'] === index && delta['id'] === id && delta['type'] === type;
  return isRight && hasName(delta) ? delta : { ...delta, index, id, type, ...functionOf(delta, false) };
}

function laterDelta(delta: JsonObject, { index }: ToolCall, isNamed: boolean): JsonObject {
  const hasMore = 'id' in delta || 'type' in delta || (isNamed && 'name' in partOf(delta));
  if (delta['index'] === index && !hasMore) return delta;
  const { id: _id, type: _type, ...rest } = delta;
  return { ...rest, index, ...functionOf(delta, isNamed) };
}

/** The function of a delta, its name only where there is one that was not told before. */
function functionOf(delta: JsonObject, isNamed: boolean): JsonObject {
  if (!isJsonObject(delta['function'])) return {};
  const { name: _name, ...rest } = delta['function'];
  const name = isNamed ? undefined : nameOf(delta);
  return { function: name === undefined ? rest : { ...delta['function'], name } };
}

function hasName(delta: JsonObject): boolean {
  return !('name' in partOf(delta)) || nameOf(delta) !== undefined;
}

/** The tool calls of a plain answer, with an id, a type and arguments each. */
export function wholeToolCalls(calls: readonly unknown[]): readonly JsonObject[] {
  return calls.filter(isJsonObject).map((call) => {
    const id = textOf(call['id']) ?? newToolCallId();
    const type = textOf(call['type']) ?? 'function';
    const { function: called } = call;
    const whole = isJsonObject(called) ? { function: withWholeArguments(called) } : {};
    const isRight = call['id'] === id && call['type'] === type && (whole.function ?? called) === called;
    return isRight ? call : { ...call, id, type, ...whole };
  });
}

function newToolCallId(): string {
  return `call_${randomBase62(ID_LENGTH)}`;
}

function indexOf(delta: JsonObject): number | undefined {
  return typeof delta['index'] === 'number' ? delta['index'] : undefined;
}

function partOf(delta: JsonObject): JsonObject {
  return isJsonObject(delta['function']) ? delta['function'] : {};
}

function nameOf(delta: JsonObject): string | undefined {
  return textOf(partOf(delta)['name']);
}

/** A text that says something. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}
