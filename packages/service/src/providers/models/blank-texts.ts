import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

/** Claude, Gemini and Bedrock refuse a text without a character that shows, wherever it stands. */
export function isBlank(text: unknown): boolean {
  return typeof text !== 'string' || text.trim() === '';
}

/**
 * Whether anything of a message is left without its blank texts. A result of a tool always stays: its call must have one. So does
 * sealed reasoning, which is sent back.
 */
export function saysSomething(message: JsonObject): boolean {
  const { role, content, refusal, tool_calls: calls, reasoning_details: details } = message;
  if (role === 'tool' || isFilled(calls) || isFilled(details) || !isBlank(refusal)) return true;
  return Array.isArray(content) ? content.some(isFilledPart) : !isBlank(content);
}

function isFilled(list: unknown): boolean {
  return Array.isArray(list) && list.length > 0;
}

function isFilledPart(part: unknown): boolean {
  if (!isJsonObject(part)) return false;
  return part['type'] === 'image_url' || !isBlank(part['text']) || !isBlank(part['refusal']);
}
