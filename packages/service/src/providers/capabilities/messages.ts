import { isJsonObject, type JsonObject, parseJson } from '#kernel/text/json.ts';
import { isBlank, saysSomething } from '#providers/models/blank-texts.ts';
import { LEAVE_OUT, type Unsupported } from '#providers/capabilities/rules.ts';
import { DATA_URL } from '#providers/translated/to-prompt.ts';

/**
 * Fields of a message that a translation and Responses have a place for, by role. `annotations` and unsealed reasoning only repeat what a
 * provider sent, so they are not sent back. Marks for a cache change no answer.
 */
export const MESSAGE_FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  system: new Set(['role', 'content', 'cache_control']),
  developer: new Set(['role', 'content', 'cache_control']),
  user: new Set(['role', 'content', 'cache_control']),
  tool: new Set(['role', 'content', 'name', 'tool_call_id', 'cache_control']),
  assistant: new Set([
    'role',
    'content',
    'refusal',
    'tool_calls',
    'annotations',
    'reasoning',
    'reasoning_content',
    'reasoning_details',
    'cache_control',
  ]),
};

const PART_FIELDS: ReadonlySet<string> = new Set(['type', 'text', 'refusal', 'image_url', 'cache_control']);

interface MessageWords {
  /** Fields of a tool call that the vendor wants back. */
  readonly toolCallFields: readonly string[];
  /** Names of tools that arrive unchanged. If it is undefined, all do. */
  readonly toolName?: RegExp;
  /** The vendor takes images in the result of a tool. */
  readonly hasToolImages: boolean;
}

/** The first part of the messages that has no place in a translation. The messages were checked for their form before. */
export function findInMessages(value: unknown, words: MessageWords): Unsupported | undefined {
  const messages = value as readonly JsonObject[];
  let hasBegun = false;
  for (const [place, message] of messages.entries()) {
    const path = `messages[${place}]`;
    const role = String(message['role']);
    if (isSystem(message) && hasBegun) return { path: `${path}.role`, advice: SYSTEM_FIRST };
    hasBegun ||= !isSystem(message);
    const found = findInMessage(message, role, path, words);
    if (found !== undefined) return found;
  }
  return hasBegun && !messages.some((message) => !isSystem(message) && saysSomething(message))
    ? { path: 'messages', advice: 'Its provider takes no conversation whose texts are all blank.' }
    : findPrefill(messages);
}

function isSystem({ role }: JsonObject): boolean {
  return role === 'system' || role === 'developer';
}

const SYSTEM_FIRST =
  'Its provider takes system and developer messages only before all others: put later instructions into a user message.';

function findInMessage(message: JsonObject, role: string, path: string, words: MessageWords): Unsupported | undefined {
  const fields = MESSAGE_FIELDS[role];
  if (fields === undefined) return { path: `${path}.role`, advice: 'Use the role "tool" and `tool_calls`.' };
  for (const name of Object.keys(message)) {
    if (message[name] === null || message[name] === undefined || fields.has(name)) continue;
    const advice = name === 'name' ? 'Put the name into the text of the message.' : LEAVE_OUT;
    return { path: `${path}.${name}`, advice };
  }
  return findInContent(message, role, path, words) ?? findInToolCalls(message['tool_calls'], path, words);
}

function findInContent(
  { content }: JsonObject,
  role: string,
  path: string,
  { hasToolImages }: MessageWords,
): Unsupported | undefined {
  if (!Array.isArray(content)) return undefined;
  const takesImages = role === 'user' || (role === 'tool' && hasToolImages);
  for (const [place, part] of (content as readonly JsonObject[]).entries()) {
    const at = `${path}.content[${place}]`;
    const unknown = Object.keys(part).find((name) => !PART_FIELDS.has(name));
    if (unknown !== undefined) return { path: `${at}.${unknown}`, advice: LEAVE_OUT };
    const image = part['image_url'];
    if (part['type'] !== 'image_url' || !isJsonObject(image)) continue;
    if (!takesImages) return { path: at, advice: 'Put the image into a user message.' };
    if (!DATA_URL.test(String(image['url']))) return { path: `${at}.image_url.url`, advice: IMAGE_AS_DATA };
    const detail = image['detail'] ?? 'auto';
    if (detail !== 'auto') return { path: `${at}.image_url.detail`, advice: LEAVE_OUT };
  }
  return undefined;
}

/** An image by its address in a request that goes out as it was written, to a vendor who fetches none. */
export function findImageAddress(value: unknown): Unsupported | undefined {
  for (const [place, { content }] of (value as readonly JsonObject[]).entries()) {
    const parts = Array.isArray(content) ? (content as readonly JsonObject[]) : [];
    const at = parts.findIndex(({ image_url: image }) => isJsonObject(image) && !DATA_URL.test(String(image['url'])));
    if (at !== -1) return { path: `messages[${place}].content[${at}].image_url.url`, advice: IMAGE_AS_DATA };
  }
  return undefined;
}

const IMAGE_AS_DATA = 'Send the image itself as a data URL in base64: this gateway fetches no addresses.';

function findInToolCalls(
  calls: unknown,
  path: string,
  { toolCallFields, toolName }: MessageWords,
): Unsupported | undefined {
  if (!Array.isArray(calls)) return undefined;
  for (const [place, call] of (calls as readonly JsonObject[]).entries()) {
    const at = `${path}.tool_calls[${place}]`;
    const known = new Set(['id', 'index', 'type', 'function', ...toolCallFields]);
    const unknown = Object.keys(call).find((name) => !known.has(name) && call[name] !== null);
    if (unknown !== undefined) return { path: `${at}.${unknown}`, advice: LEAVE_OUT };
    const called = call['function'] as JsonObject;
    if (toolName?.test(String(called['name'])) === false) {
      return { path: `${at}.function.name`, advice: 'Its provider takes letters, digits, `_` and `-`.' };
    }
    const text = String(called['arguments']);
    if (text !== '' && !isJsonObject(parseJson(text))) {
      return { path: `${at}.function.arguments`, advice: 'Its provider takes only a JSON object.' };
    }
  }
  return undefined;
}

/**
 * A last message of the assistant is the beginning of the answer. Libraries trim it, so that it must need no trimming. Blank texts are
 * not sent.
 */
function findPrefill(messages: readonly JsonObject[]): Unsupported | undefined {
  const place = messages.findLastIndex(saysSomething);
  const last = messages[place];
  if (last?.['role'] !== 'assistant') return undefined;
  const { content } = last;
  const part: unknown = Array.isArray(content) ? content.findLast(isSaid) : { text: content };
  const text = isJsonObject(part) && typeof part['text'] === 'string' ? part['text'] : '';
  if (text === text.trim()) return undefined;
  return {
    path: `messages[${place}].content`,
    advice: 'A last message of the assistant must not begin or end with a space.',
  };
}

function isSaid(part: unknown): boolean {
  return isJsonObject(part) && !isBlank(part['text']);
}

/** A place for a cache mark, and the mark. */
type Marked = readonly [path: string, mark: unknown];

/** The cache marks of a request, in the order in which a provider reads them. */
export function cacheMarksIn({ tools, messages }: JsonObject): readonly Marked[] {
  const marks: Marked[] = [];
  const look = (holder: JsonObject, path: string): void => {
    const mark = holder['cache_control'];
    if (mark !== undefined && mark !== null) marks.push([`${path}.cache_control`, mark]);
  };
  for (const [place, tool] of listOf(tools).entries()) look(tool, `tools[${place}]`);
  for (const [place, message] of listOf(messages).entries()) {
    const path = `messages[${place}]`;
    for (const [at, part] of listOf(message['content']).entries()) look(part, `${path}.content[${at}]`);
    look(message, path);
  }
  return marks;
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonObject[]) : [];
}

const MARKS_MAX = 4;

/** The first cache mark that the vendors of Claude do not take. */
export function findBadCacheMark(request: JsonObject): Unsupported | undefined {
  const marks = cacheMarksIn(request);
  const bad = marks.find(([, mark]) => !isCacheMark(mark));
  if (bad !== undefined) {
    return { path: bad[0], advice: 'It must be `{"type":"ephemeral"}`, with a `ttl` of "5m" or "1h" if you want one.' };
  }
  const excess = marks[MARKS_MAX];
  return excess && { path: excess[0], advice: `A request may have ${MARKS_MAX} cache marks.` };
}

function isCacheMark(mark: unknown): boolean {
  if (!isJsonObject(mark) || mark['type'] !== 'ephemeral') return false;
  const { ttl } = mark;
  return ttl === undefined || ttl === '5m' || ttl === '1h';
}
