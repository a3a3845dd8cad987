// settings
import OpenAI from 'openai';
// end
import {
  type Address,
  type Ask,
  type ErrorFields,
  type Failure,
  inThisProcess,
  type StockClient,
  type ToolCall,
  type Told,
} from './stock-client.ts';
import { wireRequest } from './wire-request.ts';

/** The vendor's own library for JavaScript. */
export const OPENAI: StockClient = {
  name: 'openai',
  packages: ['openai'],
  settings: new URL(import.meta.url),
  differs: {},
  start: inThisProcess(ask),
};

/** The vendor's client, as its user sets it up for either of its interfaces. */
export function connect({ baseUrl, key, user }: Address): OpenAI {
  // settings
  const client = new OpenAI({
    baseURL: baseUrl,
    apiKey: key,
    defaultHeaders: { 'x-service-user': user },
  });
  // end
  return client;
}

async function ask(address: Address, ask: Ask): Promise<Told> {
  const heard: Heard = { text: '', calls: [], usage: undefined };
  try {
    await (ask.stream ? listen(connect(address), ask, heard) : answer(connect(address), ask, heard));
    return heard;
  } catch (error) {
    return { ...heard, failure: failureOf(error) };
  }
}

interface Heard {
  text: string;
  calls: readonly ToolCall[];
  usage: Told['usage'];
}

async function answer(client: OpenAI, ask: Ask, heard: Heard): Promise<void> {
  const completion = await client.chat.completions.create(wireRequest(ask));
  hear(completion, heard);
}

async function listen(client: OpenAI, ask: Ask, heard: Heard): Promise<void> {
  const options = ask.usage ? { stream_options: { include_usage: true } } : {};
  const stream = client.chat.completions.stream({ ...wireRequest(ask), ...options, stream: true });
  for await (const chunk of stream) {
    heard.text += chunk.choices[0]?.delta.content ?? '';
    if (ask.leaves === true && heard.text !== '') {
      stream.abort();
      return;
    }
  }
  hear(await stream.finalChatCompletion(), heard);
}

function hear({ choices, usage }: OpenAI.ChatCompletion, heard: Heard): void {
  const message = choices[0]?.message;
  heard.text = message?.content ?? '';
  heard.calls = (message?.tool_calls ?? []).flatMap((call) => {
    if (call.type !== 'function') return [];
    return { id: call.id, name: call.function.name, arguments: JSON.parse(call.function.arguments) as unknown };
  });
  heard.usage = usage && { prompt: usage.prompt_tokens, completion: usage.completion_tokens };
}

/** What its user can read from an error that it raises. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof OpenAI.APIError)) return { message: String(error) };
  return {
    message: error.message,
    status: error.status as number | undefined,
    code: error.code,
    link: (error.error as ErrorFields | undefined)?.topupUrl,
    linkInHeaders: (error.headers as Headers | undefined)?.get('x-service-topup-url'),
  };
}
