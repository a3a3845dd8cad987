import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { isJsonObject, type JsonObject, parseJson } from '#kernel/text/json.ts';
import { isBlank, saysSomething } from '#providers/models/blank-texts.ts';
import type { Dialect } from '#providers/dialect/dialect.ts';
import { reasoningBlocks } from '#providers/translated/reasoning-details.ts';

type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];
type ToolContent = Extract<LanguageModelV4Message, { role: 'tool' }>['content'];
type ToolOutput = Extract<ToolContent[number], { type: 'tool-result' }>['output'];
interface Marked {
  providerOptions?: SharedV4ProviderOptions;
}

/** What a tool has said that said nothing. Its call must have a result, and no vendor takes an empty text for one. */
const NO_RESULT = '(no content)';

/**
 * The messages of a checked request (`capabilities.ts`) as a V4 prompt. Nothing in them is left out but blank texts, and messages that
 * have nothing else: their vendors refuse them, and with them every later turn of the conversation.
 */
export function toPrompt(dialect: Dialect, messages: readonly JsonObject[]): LanguageModelV4Prompt {
  /** The names of called tools by the ids of the calls: a result names only the id. */
  const toolNames = new Map<string, string>();
  return messages.filter(saysSomething).flatMap((message) => {
    switch (message['role']) {
      case 'system':
      case 'developer':
        return systemMessages(dialect, message);
      case 'assistant':
        return assistantMessages(dialect, message, toolNames);
      case 'tool':
        return [toolMessage(dialect, message, toolNames)];
      default:
        return [{ role: 'user' as const, content: contentParts(dialect, message), ...mark(dialect, message) }];
    }
  });
}

/** One message for each part, because a part may have a cache mark and a V4 system message is one text. */
function systemMessages(dialect: Dialect, message: JsonObject): LanguageModelV4Prompt {
  const parts = contentParts(dialect, message).filter((part) => part.type === 'text');
  const marked = mark(dialect, message);
  return parts.map(({ text, providerOptions }, place) => ({
    role: 'system' as const,
    content: text,
    ...(providerOptions === undefined ? {} : { providerOptions }),
    ...(place === parts.length - 1 ? marked : {}),
  }));
}

/** None if nothing is left of it, such as reasoning that another vendor sealed. */
function assistantMessages(
  dialect: Dialect,
  message: JsonObject,
  toolNames: Map<string, string>,
): readonly LanguageModelV4Message[] {
  const texts = contentParts(dialect, message).filter((part) => part.type === 'text');
  const refusal = textIn(message, 'refusal');
  const said: AssistantContent = [...texts, ...(isBlank(refusal) ? [] : [{ type: 'text' as const, text: refusal }])];
  for (const call of listIn(message, 'tool_calls')) {
    const called = call['function'] as JsonObject;
    const [toolCallId, toolName] = [textIn(call, 'id'), textIn(called, 'name')];
    toolNames.set(toolCallId, toolName);
    const providerOptions = dialect.toolCall?.optionsOf(call);
    const input = parseJson(textIn(called, 'arguments') || '{}');
    said.push({ type: 'tool-call', toolCallId, toolName, input, ...(providerOptions && { providerOptions }) });
  }
  const content = withReasoning(dialect, message, said);
  return content.length === 0 ? [] : [{ role: 'assistant', content, ...mark(dialect, message) }];
}

/** Puts each block of reasoning back to its place in the answer; one that names no place goes first. */
function withReasoning(dialect: Dialect, message: JsonObject, said: AssistantContent): AssistantContent {
  const content: AssistantContent = [];
  let next = 0;
  for (const { index = 0, text, seal } of reasoningBlocks(dialect, message['reasoning_details'])) {
    while (content.length < index && next < said.length) content.push(said[next++] as AssistantContent[number]);
    content.push({ type: 'reasoning', text, providerOptions: dialect.reasoning.optionsOf(seal) });
  }
  return [...content, ...said.slice(next)];
}

function toolMessage(
  dialect: Dialect,
  message: JsonObject,
  toolNames: ReadonlyMap<string, string>,
): LanguageModelV4Message {
  const toolCallId = textIn(message, 'tool_call_id');
  const toolName = toolNames.get(toolCallId) ?? (textIn(message, 'name') || 'unknown');
  const parts = contentParts(dialect, message);
  const [only] = parts;
  const isText = typeof message['content'] === 'string' && only?.type === 'text';
  const output: ToolOutput =
    only === undefined || isText
      ? { type: 'text', value: only?.type === 'text' ? only.text : NO_RESULT }
      : { type: 'content', value: parts };
  return {
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId, toolName, output, ...mark(dialect, message) }],
  };
}

type ContentPart = LanguageModelV4TextPart | LanguageModelV4FilePart;

/** The parts of a message without blank texts. A cache mark of one of those goes to the part before it. */
function contentParts(dialect: Dialect, { content }: JsonObject): ContentPart[] {
  if (typeof content === 'string') return isBlank(content) ? [] : [{ type: 'text', text: content }];
  const parts: ContentPart[] = [];
  for (const part of Array.isArray(content) ? (content as readonly JsonObject[]) : []) {
    const marked = mark(dialect, part);
    if (part['type'] === 'image_url') {
      parts.push(imagePart(dialect, part));
      continue;
    }
    const text = textIn(part, part['type'] === 'refusal' ? 'refusal' : 'text');
    const before = parts.at(-1);
    if (!isBlank(text)) parts.push({ type: 'text', text, ...marked });
    else if (before?.providerOptions === undefined && before !== undefined)
      parts.splice(-1, 1, { ...before, ...marked });
  }
  return parts;
}

/** A data URL of base64, with its media type. */
export const DATA_URL = /^data:(image\/[a-z]+);base64,/i;

function imagePart(dialect: Dialect, part: JsonObject): LanguageModelV4FilePart {
  const url = textIn(part['image_url'] as JsonObject, 'url');
  const [head = '', mediaType = ''] = DATA_URL.exec(url) ?? [];
  const data = { type: 'data' as const, data: url.slice(head.length) };
  return { type: 'file', mediaType: mediaType.toLowerCase(), data, ...mark(dialect, part) };
}

function mark(dialect: Dialect, { cache_control: cacheControl }: JsonObject): Marked {
  return isJsonObject(cacheControl) ? { providerOptions: dialect.cacheOptions(cacheControl) } : {};
}

function textIn(object: JsonObject, name: string): string {
  const value = object[name];
  return typeof value === 'string' ? value : '';
}

function listIn(object: JsonObject, name: string): readonly JsonObject[] {
  const value = object[name];
  return Array.isArray(value) ? (value as readonly JsonObject[]) : [];
}
