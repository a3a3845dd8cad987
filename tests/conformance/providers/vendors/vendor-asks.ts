import assert from 'node:assert/strict';
import type OpenAI from 'openai';
import type { APIError } from 'openai';

/** How a stock client asks, plain and streamed, with what both ways bring in one shape. */

export type Asked = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'model' | 'stream'>;
type Delta = OpenAI.ChatCompletionChunk.Choice.Delta & {
  reasoning_content?: string;
  reasoning_details?: unknown[];
};
type Message = OpenAI.ChatCompletionMessage;

export interface Said {
  readonly message: Message;
  readonly reason: string | null | undefined;
  /** How many chunks had any text, and any arguments of a tool. */
  readonly deltas?: { readonly texts: number; readonly arguments: number };
}

/** The stream helper of the library keeps only the last piece of a field that it does not know, so that they are joined here. */
export function asksOf(client: OpenAI) {
  async function plain(model: string, asked: Asked): Promise<Said> {
    const { choices } = await client.chat.completions.create({ model, ...asked });
    const [choice] = choices;
    assert.ok(choice);
    return { message: choice.message, reason: choice.finish_reason };
  }

  async function streamed(model: string, asked: Asked): Promise<Said> {
    const stream = client.chat.completions.stream({ model, ...asked, stream: true });
    const deltas = { texts: 0, arguments: 0 };
    const details: unknown[] = [];
    let thought = '';
    for await (const { choices } of stream) {
      const delta: Delta | undefined = choices[0]?.delta;
      if (delta?.content) deltas.texts += 1;
      if (delta?.tool_calls?.some((call) => call.function?.arguments)) deltas.arguments += 1;
      thought += delta?.reasoning_content ?? '';
      details.push(...(delta?.reasoning_details ?? []));
    }
    const [choice] = (await stream.finalChatCompletion()).choices;
    assert.ok(choice);
    const message = {
      ...choice.message,
      ...(thought !== '' && { reasoning_content: thought }),
      ...(details.length > 0 && { reasoning_details: details }),
    };
    return { message, reason: choice.finish_reason, deltas };
  }

  /** The reason to finish that both ways bring, or the code of the error. */
  async function reasons(model: string, asked: Asked): Promise<readonly string[]> {
    const told = await Promise.allSettled([plain(model, asked), streamed(model, asked)]);
    return told.map((one) => String(one.status === 'fulfilled' ? one.value.reason : (one.reason as APIError).code));
  }

  return { plain, streamed, reasons };
}
