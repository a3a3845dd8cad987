import { sha256 } from '#kernel/crypto/crypto.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { listIn, REASONING_FORMAT, textIn } from '#providers/openai-responses/output-items.ts';

/** OpenAI takes no longer id of a call. */
const CALL_ID_CHARACTERS_MAX = 64;

/** What an entry of the catalogue changes about messages. */
export type InputSettings = { readonly developerRole?: 'developer' | 'system' | undefined };

/** The messages of a checked request as items of the input. Nothing in them is left out but what another vendor sealed. */
export function inputItems(messages: readonly JsonObject[], settings: InputSettings): readonly JsonObject[] {
  return messages.flatMap((message) => {
    switch (message['role']) {
      case 'assistant':
        return assistantItems(message);
      case 'tool':
        return [toolItem(message)];
      case 'developer':
        return [messageItem(settings.developerRole ?? 'developer', message)];
      default:
        return [messageItem(String(message['role']), message)];
    }
  });
}

function messageItem(role: string, { content }: JsonObject): JsonObject {
  return { type: 'message', role, content: Array.isArray(content) ? content.map(inputPart) : content };
}

function inputPart(part: unknown): JsonObject {
  if (!isJsonObject(part)) return {};
  const { type, image_url: image } = part;
  if (type !== 'image_url' || !isJsonObject(image))
    return { type: 'input_text', text: textIn(part, type === 'refusal' ? 'refusal' : 'text') };
  return { type: 'input_image', image_url: image['url'], detail: image['detail'] ?? 'auto' };
}

function toolItem({ content, tool_call_id: id }: JsonObject): JsonObject {
  const parts = Array.isArray(content) ? content.map(inputPart) : [];
  const isText = parts.every(({ type }) => type === 'input_text');
  // Servers of the format take a text everywhere, and a list only in part.
  const output = !Array.isArray(content) ? content : isText ? parts.map(({ text }) => text).join('') : parts;
  return { type: 'function_call_output', call_id: callIdOf(id), output };
}

/** An earlier answer. Each item of reasoning goes back to its place before what followed from it. */
function assistantItems(message: JsonObject): readonly JsonObject[] {
  const said = [...saidItem(message), ...listIn(message, 'tool_calls').map(callItem)];
  const items: JsonObject[] = [];
  let next = 0;
  for (const { index, item } of reasoningItems(message)) {
    // Reasoning without what followed from it is refused, so the last thing that was said stays behind all of it.
    while (items.length < index && next < said.length - 1) items.push(said[next++] as JsonObject);
    if (next < said.length) items.push(item);
  }
  return [...items, ...said.slice(next)];
}

function saidItem({ content, refusal }: JsonObject): readonly JsonObject[] {
  const parts = Array.isArray(content) ? content.map(outputPart) : [];
  const isRefused = typeof refusal === 'string' && refusal !== '';
  if (parts.length === 0 && !isRefused)
    return typeof content === 'string' && content !== '' ? [{ type: 'message', role: 'assistant', content }] : [];
  if (typeof content === 'string' && content !== '') parts.push({ type: 'output_text', text: content });
  if (isRefused) parts.push({ type: 'refusal', refusal });
  return [{ type: 'message', role: 'assistant', content: parts }];
}

function outputPart(part: unknown): JsonObject {
  if (!isJsonObject(part)) return {};
  if (part['type'] === 'refusal') return { type: 'refusal', refusal: textIn(part, 'refusal') };
  return { type: 'output_text', text: textIn(part, 'text') };
}

function callItem({ id, function: called }: JsonObject): JsonObject {
  const { name, arguments: given } = isJsonObject(called) ? called : {};
  return { type: 'function_call', call_id: callIdOf(id), name, arguments: given === '' ? '{}' : given };
}

/** Ids of other vendors may be longer. They are shortened always in the same way: a call and its result must have the same. */
function callIdOf(id: unknown): string {
  const text = String(id);
  return text.length <= CALL_ID_CHARACTERS_MAX ? text : `call_${sha256(text).toString('hex').slice(0, 48)}`;
}

interface ReasoningItem {
  /** Its place in the answer. */
  readonly index: number;
  readonly item: JsonObject;
}

/**
 * The items of reasoning that `reasoning_details` of an assistant's message hold. Parts of one id, or of one index, are one item: clients
 * either join the pieces of a stream or keep them all. Without its seal, an item can only go back with its text: no vendor keeps it.
 */
function reasoningItems(message: JsonObject): readonly ReasoningItem[] {
  const found = new Map<unknown, { index: number; id: unknown; summary: string; text: string; data: string }>();
  for (const detail of listIn(message, 'reasoning_details')) {
    if (detail['format'] !== REASONING_FORMAT) continue;
    const index = typeof detail['index'] === 'number' ? detail['index'] : 0;
    const name = detail['id'] ?? index;
    const one = found.get(name) ?? { index, id: detail['id'], summary: '', text: '', data: '' };
    found.set(name, one);
    one.summary += textIn(detail, 'summary');
    one.text += textIn(detail, 'text');
    one.data ||= textIn(detail, 'data');
  }
  return Array.from(found.values(), ({ index, id, summary, text, data }) => ({
    index,
    item: {
      type: 'reasoning',
      ...(data !== '' && typeof id === 'string' && { id }),
      summary: summary === '' ? [] : [{ type: 'summary_text', text: summary }],
      ...(text !== '' && { content: [{ type: 'reasoning_text', text }] }),
      ...(data !== '' && { encrypted_content: data }),
    },
  })).filter(({ item }) => 'encrypted_content' in item || 'content' in item);
}

/** Whether a request has reasoning that goes back to its vendor. */
export function hasSealedReasoning(messages: readonly JsonObject[]): boolean {
  return messages.some((message) =>
    listIn(message, 'reasoning_details').some(({ format, data }) => format === REASONING_FORMAT && data !== undefined),
  );
}
