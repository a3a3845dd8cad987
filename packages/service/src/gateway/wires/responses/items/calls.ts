import { randomUUID } from 'node:crypto';
import type { GivenTool } from '#gateway/wires/responses/conversation/echo.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

/** A call of a tool, under the name by which the caller knows the tool. */
export interface Call {
  readonly type: 'function_call' | 'custom_tool_call';
  readonly callId: string;
  readonly name: string;
  readonly namespace: string | undefined;
  /** The model was given a function in the place of a custom tool, so the input is in the arguments. */
  readonly isWrapped: boolean;
}

interface Called {
  /** The same for all pieces of one call. */
  readonly key: unknown;
  readonly call: Call;
  /** The arguments or the input, or a piece of them. */
  readonly words: string;
  /** What a vendor wants back with the call. */
  readonly extra: JsonObject | undefined;
  /** Whether it is the first piece of its call. */
  readonly isFirst: boolean;
}

/** Reads a call, or a piece of one, from `tool_calls`. */
export function calledIn(
  { index, id, type, function: called, custom, extra_content: extra }: JsonObject,
  place: number,
  tools: ReadonlyMap<string, GivenTool>,
): Called {
  const isCustom = type === 'custom' || isJsonObject(custom);
  const words = isJsonObject(custom) ? custom : isJsonObject(called) ? called : {};
  const { name, arguments: given, input } = words;
  const tool = typeof name === 'string' ? tools.get(name) : undefined;
  const text = isCustom ? input : given;
  return {
    key: index ?? place,
    call: {
      type: isCustom || tool?.type === 'custom' ? 'custom_tool_call' : 'function_call',
      callId: typeof id === 'string' && id !== '' ? id : `call_${randomUUID().replaceAll('-', '')}`,
      name: tool?.name ?? (typeof name === 'string' ? name : ''),
      namespace: tool?.namespace,
      isWrapped: !isCustom && tool?.type === 'custom',
    },
    words: typeof text === 'string' ? text : isJsonObject(text) ? JSON.stringify(text) : '',
    extra: isJsonObject(extra) ? extra : undefined,
    isFirst: id !== undefined || name !== undefined,
  };
}

/** The item of a call, as JSON. `escaped` is its arguments or its input, as JSON writes them between quotes. */
export function callJson(id: string, { type, callId, name, namespace }: Call, escaped: string, status: string): string {
  const head = JSON.stringify({ id, type, status, call_id: callId, name, namespace });
  return `${head.slice(0, -1)},"${type === 'function_call' ? 'arguments' : 'input'}":"${escaped}"}`;
}

/** The beginning of the arguments of a function that stands for a custom tool, up to its only text. */
const WRAPPING = /^\s*\{\s*"[^"\\]*"\s*:\s*"/;

/** The input of a custom tool, from the arguments of the function that stands for it. Arguments that were cut give what is there. */
export function customInputOf(words: string): string {
  const whole = parsed(words);
  if (isJsonObject(whole)) {
    const values = Object.values(whole);
    const input = whole['input'] ?? (values.length === 1 ? values[0] : undefined);
    return typeof input === 'string' ? input : words;
  }
  const wrapping = WRAPPING.exec(words)?.[0];
  if (whole !== undefined || wrapping === undefined) return typeof whole === 'string' ? whole : words;
  const cut = words.slice(wrapping.length).replace(/\\(?:u[\da-fA-F]{0,3})?$/, '');
  const input = parsed(`"${cut}"`);
  return typeof input === 'string' ? input : words;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
