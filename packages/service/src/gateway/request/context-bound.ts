import type { Model } from '#catalogue/catalogue.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

/** A word and the white space after it are two bytes at least. */
const BYTES_PER_WORD_MIN = 2;
const SPACE = 32; // ASCII's white space is at or below it.

/**
 * Refuses a prompt that cannot fit the model's context, before money is set aside for it: no top-up would help (MO-08). Only one that
 * certainly cannot is refused: its texts have more words than the context has tokens, and no vocabulary joins two words in one token.
 * Everything shorter is left to the provider, which counts exactly.
 */
export function checkContext(
  request: JsonObject,
  { contextTokens }: Pick<Model, 'contextTokens'>,
  bodyBytes: number,
): Refusal<'BAD_REQUEST'> | undefined {
  if (bodyBytes < contextTokens * BYTES_PER_WORD_MIN) return undefined; // Nearly every call: nothing is counted.
  const words = wordsIn(request['messages']);
  if (words <= contextTokens) return undefined;
  return refuse(
    'BAD_REQUEST',
    // The words by which clients of the format know it.
    `This model's maximum context length is ${contextTokens} tokens, and the prompt has ${words} words, each of which is at least one. ` +
      'Send fewer or shorter messages, or use a model with a longer context.',
    { param: 'messages' },
  );
}

/** The words of what messages say: of their `content` if it is text, and of its parts that are. */
function wordsIn(messages: unknown): number {
  let words = 0;
  for (const message of arrayOf(messages)) {
    const content = isJsonObject(message) ? message['content'] : undefined;
    if (typeof content === 'string') words += wordsOf(content);
    for (const part of arrayOf(content)) {
      const text = isJsonObject(part) ? part['text'] : undefined;
      if (typeof text === 'string') words += wordsOf(text);
    }
  }
  return words;
}

function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The runs of characters between white space. Counted without a copy of the text, which may be a megabyte long. */
function wordsOf(text: string): number {
  let words = 0;
  let isSpace = true;
  for (let index = 0; index < text.length; index += 1) {
    const wasSpace = isSpace;
    isSpace = text.charCodeAt(index) <= SPACE;
    if (wasSpace && !isSpace) words += 1;
  }
  return words;
}
