import { randomUUID } from 'node:crypto';
import type { Echo } from '#gateway/wires/messages/conversation/echo.ts';
import type { OutputCall } from '#gateway/output/output-parts.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

/** A call of a tool, or a piece of one. */
export interface Called {
  /** The same for all pieces of one call. */
  readonly key: unknown;
  readonly id: string | undefined;
  readonly name: string;
  /** The arguments as JSON, or a piece of them. */
  readonly words: string;
  /** What a vendor wants back with the call. */
  readonly extra: JsonObject | undefined;
}

export function calledIn({ call, place }: OutputCall): Called {
  const { index, id, function: called, custom, extra_content: extra } = call;
  const words = isJsonObject(called) ? called : isJsonObject(custom) ? custom : {};
  const { name, arguments: given, input } = words;
  const text = given ?? input;
  return {
    key: index ?? place,
    id: typeof id === 'string' && id !== '' ? id : undefined,
    name: typeof name === 'string' ? name : '',
    words: typeof text === 'string' ? text : isJsonObject(text) ? JSON.stringify(text) : '',
    extra: isJsonObject(extra) ? extra : undefined,
  };
}

/** The block of a call without its arguments, by the name that its caller gave the tool. */
export function callBlock({ id, name }: Called, toolNames: Echo['toolNames']): JsonObject & { readonly id: string } {
  const ours = `toolu_${randomUUID().replaceAll('-', '')}`;
  return {
    type: 'tool_use',
    id: id ?? ours,
    name: toolNames?.get(name) ?? name,
    input: {},
    caller: { type: 'direct' },
  };
}
