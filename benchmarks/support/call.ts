import { MODEL } from './catalogue.ts';

export const CHAT_PATH = '/v1/chat/completions';

const PARAGRAPH =
  'You keep the books of a small shop. Answer in one short paragraph, name the sum first, and do not guess: ' +
  'if a number is missing, say which one and where it would be found. ';

const QUESTION = 'How many coins were in the till this morning, and how many are in it now?';

export const RESPONSES_PATH = '/v1/responses';

/** The body of the same call by the wire of Responses. */
export function responsesBodyOf(options: { readonly stream: boolean; readonly model?: string }): string {
  return JSON.stringify({
    model: options.model ?? MODEL,
    instructions: PARAGRAPH.repeat(2).trim(),
    input: QUESTION,
    temperature: 0.2,
    store: false,
    ...(options.stream ? { stream: true } : {}),
  });
}

export const MESSAGES_PATH = '/v1/messages';

/** The body of the same call by Messages. */
export function messagesBodyOf(options: { readonly stream: boolean; readonly model?: string }): string {
  return JSON.stringify({
    model: options.model ?? MODEL,
    max_tokens: 1_000,
    system: PARAGRAPH.repeat(2).trim(),
    messages: [{ role: 'user', content: QUESTION }],
    temperature: 0.2,
    ...(options.stream ? { stream: true } : {}),
  });
}

export const EMBEDDINGS_PATH = '/v1/embeddings';

/** The body of a call for the vector of as much text, in the encoding that libraries ask for. */
export function embeddingsBodyOf(options: { readonly model?: string }): string {
  const input = `${PARAGRAPH.repeat(2)}${QUESTION}`;
  return JSON.stringify({ model: options.model ?? MODEL, input, encoding_format: 'base64' });
}

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
      { role: 'user', content: QUESTION },
    ],
    temperature: 0.2,
    ...(options.maxTokens === undefined ? {} : { max_tokens: options.maxTokens }),
    ...(options.stream ? { stream: true } : {}),
  });
}
