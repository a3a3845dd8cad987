import type { ValueFault } from '#gateway/parameters/values.ts';
import type { Opener } from '#gateway/wires/responses/conversation/opener.ts';
import { PLAIN_ID_CHARACTERS_MAX } from '#gateway/wires/responses/conversation/sealed-ids.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

/** The format of reasoning that only vendors who speak this wire take back. */
const FORMAT = 'openai-responses-v1';

/** Reads an item of reasoning as `reasoning_details` of its message. `index` is its place in the answer. */
export function readReasoning(
  item: JsonObject,
  path: string,
  index: number,
  opener: Opener,
): readonly JsonObject[] | ValueFault {
  const { id, summary, content, encrypted_content: data } = item;
  const texts = textsOf(summary, `${path}.summary`);
  if (!Array.isArray(texts)) return texts as ValueFault;
  const thoughts = textsOf(content, `${path}.content`);
  if (!Array.isArray(thoughts)) return thoughts as ValueFault;
  if (data !== undefined && data !== null && typeof data !== 'string') {
    return { path: `${path}.encrypted_content`, expects: 'a string, as it was in the answer' };
  }
  const opened = typeof data === 'string' ? opener.openThoughts(data) : undefined;
  if (opened !== undefined) return opened; // What a vendor of another interface has said, with its own seal.
  const isVendors = typeof id === 'string' && id.length <= PLAIN_ID_CHARACTERS_MAX;
  const isSealed = typeof data === 'string' && !opener.isThoughts(data);
  if (!isSealed && thoughts.length === 0) return []; // A summary alone goes back to nobody.
  const common = { index, format: FORMAT, ...(isVendors ? { id } : {}) };
  return [
    ...(texts as readonly string[]).map((text) => ({ type: 'reasoning.summary', summary: text, ...common })),
    ...(thoughts as readonly string[]).map((text) => ({ type: 'reasoning.text', text, ...common })),
    ...(isSealed ? [{ type: 'reasoning.encrypted', data, ...common }] : []),
  ];
}

/** The texts of a list of parts. None if there is no list: clients send a null. */
function textsOf(list: unknown, path: string): readonly string[] | ValueFault {
  if (list === undefined || list === null) return [];
  const expects = 'an array of parts with a `text`, as it was in the answer';
  if (!Array.isArray(list)) return { path, expects };
  const parts: readonly unknown[] = list;
  const texts = parts.map((part) => (isJsonObject(part) ? part['text'] : undefined));
  return texts.every((text) => typeof text === 'string') ? texts : { path, expects };
}
