import type { Message } from './message.ts';
import type { FunctionTool } from './tool.ts';

// Not a real tokenizer. Anyone can check these counts by hand, and the same request always has the same usage.
export const CHARACTERS_PER_TOKEN = 4;
const TOKENS_PER_MESSAGE = 4; // For the role and the markup around a message.
const TOKENS_PER_ATTACHMENT = 85; // Images, audio and files alike, of any size.

/** Counts code points, so that an emoji counts as one and a cut never splits it. */
function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** One token for every four characters, rounded up. */
export function countTokens(text: string): number {
  return Math.ceil(countCharacters(text) / CHARACTERS_PER_TOKEN);
}

/** The longest prefix of `text` with at most `tokensMax` tokens. */
export function cutToTokens(text: string, tokensMax: number): string {
  const charactersMax = tokensMax * CHARACTERS_PER_TOKEN;
  if (text.length <= charactersMax) return text; // A text never has more code points than units.
  return Array.from(text).slice(0, charactersMax).join('');
}

/** Counts everything that a model would have to read: messages, attachments, tools and the schema of the answer. */
export function countPromptTokens(prompt: {
  readonly messages: readonly Message[];
  readonly tools: readonly FunctionTool[];
  readonly schema: unknown;
}): number {
  let tokens = prompt.schema === undefined ? 0 : countTokens(JSON.stringify(prompt.schema));
  for (const message of prompt.messages) {
    tokens += TOKENS_PER_MESSAGE + countTokens(message.text) + countTokens(message.unspokenText);
    tokens += TOKENS_PER_ATTACHMENT * message.attachmentCount;
  }
  for (const tool of prompt.tools) {
    tokens += countTokens(tool.name + tool.description + JSON.stringify(tool.parameters));
  }
  return tokens;
}
