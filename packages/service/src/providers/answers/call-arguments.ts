import type { JsonObject } from '#kernel/text/json.ts';

/** What clients parse where a call has no arguments. */
const NOTHING = '{}';

/** How far the arguments of one call have come. */
export interface ArgumentsSoFar {
  hasArguments: boolean;
}

/** A called function of a whole answer, with its arguments as JSON text. Some servers send an object, null or nothing. */
export function withWholeArguments(called: JsonObject): JsonObject {
  const text = argumentsText(called['arguments']);
  const whole = text.trim() === '' ? NOTHING : text;
  return called['arguments'] === whole ? called : { ...called, arguments: whole };
}

/**
 * The same for a piece of a call in a stream. Nothing is an empty text there, because the arguments may follow: vLLM names a
 * function before it has any. A whole object that comes again is left out.
 */
export function withArguments(called: JsonObject, sofar: ArgumentsSoFar): JsonObject {
  const { arguments: given } = called;
  const said = argumentsText(given);
  const isWhole = typeof given !== 'string';
  const text = isWhole && (sofar.hasArguments || said === NOTHING) ? '' : said;
  sofar.hasArguments ||= text.trim() !== '';
  return given === text ? called : { ...called, arguments: text };
}

/** The arguments that a call still needs at the end of its choice; undefined if it has some. */
export function missingArguments(sofar: ArgumentsSoFar): string | undefined {
  if (sofar.hasArguments) return undefined;
  sofar.hasArguments = true;
  return NOTHING;
}

/** The old `function_call` of one choice of a stream: takes its pieces, and completes it at the end. */
export function createFunctionCall(): (piece: JsonObject | undefined, isEnd: boolean) => JsonObject | undefined {
  let sofar: ArgumentsSoFar | undefined;
  return (piece, isEnd) => {
    if (piece !== undefined) sofar ??= { hasArguments: false };
    if (sofar === undefined) return undefined;
    const taken = piece === undefined ? undefined : withArguments(piece, sofar);
    const missing = isEnd ? missingArguments(sofar) : undefined;
    return missing === undefined ? taken : { ...taken, arguments: missing };
  };
}

/** Arguments as text; '' if there are none. */
export function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}
