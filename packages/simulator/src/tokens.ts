import type { Message } from './message.ts';
import type { FunctionTool } from './tool.ts';

// No real tokenizer: anyone can check these counts by hand, and the same request always gives the same usage.
export const CHARACTERS_PER_TOKEN = 4;
const TOKENS_PER_MESSAGE = 4; // Stands for the role and the marks around a message.
const TOKENS_PER_ATTACHMENT = 85; // The same for images, audio and files of any size.

/** The characters of `text` as code points, so that an emoji is one and cutting never splits it. */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** One token for every four characters, the last four possibly incomplete. */
export function countTokens(text: string): number {
  return Math.ceil(countCharacters(text) / CHARACTERS_PER_TOKEN);
}

/** The longest start of `text` that is at most `tokensMax` tokens. */
export function cutToTokens(text: string, tokensMax: number): string {
  const charactersMax = tokensMax * CHARACTERS_PER_TOKEN;
  if (text.length <= charactersMax) return text; // Never fewer units than code points.
  return Array.from(text).slice(0, charactersMax).join('');
}

/** Everything the model would have to read: messages, attachments, tools and the schema of the answer. */
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
