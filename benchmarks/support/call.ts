import { MODEL } from './catalogue.ts';

export const CHAT_PATH = '/v1/chat/completions';

const PARAGRAPH =
  'You keep the books of a small shop. Answer in one short paragraph, name the sum first, and do not guess: ' +
  'if a number is missing, say which one and where it would be found. ';

/** The body of a call, about 600 bytes. */
export function bodyOf(options: {
  readonly stream: boolean;
  readonly model?: string;
  readonly maxTokens?: number;
}): string {
  return JSON.stringify({
    model: options.model ?? MODEL,
    messages: [
      { role: 'system', content: PARAGRAPH.repeat(2).trim() },
      { role: 'user', content: 'How many coins were in the till this morning, and how many are in it now?' },
    ],
    temperature: 0.2,
    ...(options.maxTokens === undefined ? {} : { max_tokens: options.maxTokens }),
    ...(options.stream ? { stream: true } : {}),
  });
}
