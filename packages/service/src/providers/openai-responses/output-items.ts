import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { argumentsText } from '#providers/answers/call-arguments.ts';

/**
 * The items of a response's output, read as parts of a message of chat completions. Items of other types say nothing there: they are
 * tools that ran at the vendor.
 */

/** The name of this form of `reasoning_details`, which other gateways use too. */
export const REASONING_FORMAT = 'openai-responses-v1';
/** What stands between the parts of a summary that become one text. */
export const BETWEEN_SUMMARIES = '\n\n';

export function listIn(object: JsonObject, name: string): readonly JsonObject[] {
  const value = object[name];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function textIn(object: JsonObject, name: string): string {
  const value = object[name];
  return typeof value === 'string' ? value : '';
}

/** The items of an output. */
export function outputOf(response: JsonObject): readonly JsonObject[] {
  return listIn(response, 'output');
}

/** Whether an item asks the caller to run something. Calls of tools that run at the vendor have no `call_id`. */
export function isCall({ type, call_id: id }: JsonObject): boolean {
  if (type === 'function_call' || type === 'custom_tool_call') return true;
  return typeof type === 'string' && type.endsWith('_call') && typeof id === 'string';
}

/** What an item of type `message` says. `before`: how much text stands before it. */
export function saidIn(
  item: JsonObject,
  before = 0,
): {
  readonly content: string;
  readonly refusal: string;
  readonly annotations: readonly JsonObject[];
} {
  if (typeof item['content'] === 'string') return { content: item['content'], refusal: '', annotations: [] };
  let [content, refusal] = ['', ''];
  const annotations: JsonObject[] = [];
  for (const part of listIn(item, 'content')) {
    for (const one of listIn(part, 'annotations')) {
      const annotation = annotationOf(one, before + content.length);
      if (annotation !== undefined) annotations.push(annotation);
    }
    if (part['type'] === 'refusal') refusal += textIn(part, 'refusal');
    else content += textIn(part, 'text');
  }
  return { content, refusal, annotations };
}

/** A citation in the words of chat completions. `before`: how much text stands before the part that it is in. */
export function annotationOf(given: JsonObject, before = 0): JsonObject | undefined {
  const { type, start_index: start, end_index: end, ...rest } = given;
  if (type === 'file_citation') return { type, file_citation: rest };
  if (type !== 'url_citation') return undefined;
  const place = {
    ...(typeof start === 'number' && { start_index: start + before }),
    ...(typeof end === 'number' && { end_index: end + before }),
  };
  return { type, url_citation: { ...place, ...rest } };
}

/** A call of a tool. Only callers of Responses offer tools that are no functions, and get the item itself. */
export function callOf(item: JsonObject): JsonObject {
  const { type, call_id: callId, id = callId } = item;
  const name = type === 'function_call' || type === 'custom_tool_call' ? textIn(item, 'name') : type;
  const given = { id: callId ?? id };
  if (type === 'function_call') return { ...given, type: 'function', function: { name, arguments: inputOf(item) } };
  return { ...given, type: 'custom', custom: { name, input: inputOf(item) } };
}

/** What a call is made with, as text. */
export function inputOf({ arguments: given, input, action, operation }: JsonObject): string {
  return argumentsText(given ?? input ?? action ?? operation);
}

/** The texts of an item of type `reasoning`. */
export function thoughtsIn(item: JsonObject): { readonly summary: string; readonly text: string } {
  const summaries = listIn(item, 'summary').map((part) => textIn(part, 'text'));
  const texts = listIn(item, 'content').map((part) => textIn(part, 'text'));
  return { summary: summaries.join(BETWEEN_SUMMARIES), text: texts.join('') };
}

/** What of an item of reasoning is told: more of its summary, of its text, or its seal. */
type Thought = { readonly summary: string } | { readonly text: string } | { readonly data: string };

/** A part of an item of reasoning as callers send it back. `index` is its place in the answer. */
export function reasoningDetail(index: number, id: unknown, thought: Thought): JsonObject {
  const type = 'data' in thought ? 'encrypted' : 'summary' in thought ? 'summary' : 'text';
  const named = typeof id === 'string' ? { id } : {};
  return { type: `reasoning.${type}`, index, format: REASONING_FORMAT, ...named, ...thought };
}

/** All parts of an item of reasoning. */
export function reasoningDetails(index: number, item: JsonObject): readonly JsonObject[] {
  const { summary, text } = thoughtsIn(item);
  const data = textIn(item, 'encrypted_content');
  const { id } = item;
  return [
    ...(summary === '' ? [] : [reasoningDetail(index, id, { summary })]),
    ...(text === '' ? [] : [reasoningDetail(index, id, { text })]),
    ...(data === '' ? [] : [reasoningDetail(index, id, { data })]),
  ];
}

/** How many searches of the web an output has. Opening a page that was found costs nothing. */
export function searchesIn(output: readonly JsonObject[]): number {
  return output.filter(({ type, action }) => {
    const kind = isJsonObject(action) ? (action['type'] ?? 'search') : 'search';
    return type === 'web_search_call' && kind === 'search';
  }).length;
}
