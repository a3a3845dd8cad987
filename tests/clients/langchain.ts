import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  ToolMessage,
  type UsageMetadata,
} from '@langchain/core/messages';
// settings
import { ChatOpenAI } from '@langchain/openai';
// end
import { ALWAYS_USAGE, RETRIED } from './differences.ts';
import { CODEX_ALIAS } from './scenario.ts';
import {
  type Address,
  type Ask,
  type ErrorFields,
  type Failure,
  inThisProcess,
  type Message,
  type StockClient,
  type Told,
} from './stock-client.ts';

// LangChain would send these calls to any service that a developer has told it to trace other calls to.
for (const name of ['LANGSMITH_TRACING', 'LANGSMITH_TRACING_V2', 'LANGCHAIN_TRACING_V2']) delete process.env[name];

/** LangChain's chat model for OpenAI. */
export const LANGCHAIN: StockClient = {
  name: '@langchain/openai',
  packages: ['@langchain/core', '@langchain/openai'],
  settings: new URL(import.meta.url),
  differs: RETRIED,
  start: inThisProcess((address, ask) => askOf(connect(address, ask.usage), ask)),
};

/** The same by a name of the model that makes it speak the Responses wire. */
export const LANGCHAIN_RESPONSES: StockClient = {
  name: '@langchain/openai, a name with `codex`',
  packages: ['@langchain/core', '@langchain/openai'],
  settings: new URL(import.meta.url),
  differs: { ...RETRIED, ...ALWAYS_USAGE },
  start: inThisProcess((address, ask) => askOf(connect(address, ask.usage, CODEX_ALIAS), ask)),
};

function connect({ baseUrl, key, user }: Address, streamUsage: boolean, name = 'large'): ChatOpenAI {
  // settings
  const model = new ChatOpenAI({
    model: name, // For a name with `codex`, `gpt-5.6` or `-pro` it speaks the Responses wire.
    apiKey: key,
    configuration: { baseURL: baseUrl, defaultHeaders: { 'x-service-user': user } },
    streamUsage, // The default is true.
    maxRetries: 2, // The default is 6, which retries a 502 for a minute and a half.
  });
  // end
  return model;
}

async function askOf(model: ChatOpenAI, ask: Ask): Promise<Told> {
  const messages = ask.messages.map(messageOf);
  try {
    if (ask.schema !== undefined) {
      const shaped = model.withStructuredOutput(ask.schema, { name: 'answer', method: 'jsonSchema', strict: true });
      return { text: JSON.stringify(await shaped.invoke(messages)), calls: [] };
    }
    const tools = ask.tools?.map((tool) => ({ type: 'function' as const, function: { ...tool } }));
    const able = tools === undefined ? model : model.bindTools(tools);
    return ask.stream ? await listen(able, messages, ask.leaves === true) : toldBy(await able.invoke(messages));
  } catch (error) {
    return { text: '', calls: [], failure: failureOf(error) };
  }
}

type Able = Pick<ChatOpenAI, 'stream'>;

async function listen(model: Able, messages: BaseMessage[], leaves: boolean): Promise<Told> {
  const leaving = new AbortController();
  let whole = new AIMessageChunk('');
  try {
    for await (const chunk of await model.stream(messages, { signal: leaving.signal })) {
      whole = whole.concat(chunk);
      if (leaves && whole.text !== '') leaving.abort();
    }
    return toldBy(whole);
  } catch (error) {
    return { ...toldBy(whole), failure: failureOf(error) };
  }
}

function toldBy(message: AIMessage | AIMessageChunk): Told {
  const { text, tool_calls: calls = [] } = message;
  const usage = message.usage_metadata as UsageMetadata | undefined;
  return {
    text,
    calls: calls.map(({ id = '', name, args }) => ({ id, name, arguments: args })),
    usage: usage && { prompt: usage.input_tokens, completion: usage.output_tokens },
  };
}

function messageOf(message: Message): BaseMessage {
  switch (message.role) {
    case 'user': {
      const { text, image } = message;
      if (image === undefined) return new HumanMessage(text);
      return new HumanMessage({
        content: [
          { type: 'text', text },
          { type: 'image_url', image_url: { url: image } },
        ],
      });
    }
    case 'assistant': {
      const calls = message.calls.map(({ id, name, arguments: given }) => {
        return { id, name, args: given as Record<string, unknown> };
      });
      return new AIMessage({ content: '', tool_calls: calls });
    }
    case 'tool':
      return new ToolMessage({ tool_call_id: message.call.id, content: message.result });
  }
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { message: String(error) };
  const { status, code, error: fields, headers } = error as Error & Raised;
  return {
    message: error.message,
    status,
    code: code ?? fields?.code,
    link: fields?.topupUrl,
    linkInHeaders: headers?.get('x-service-topup-url'),
  };
}

/** The fields it leaves on the errors of the library below it. */
interface Raised {
  readonly status?: number;
  readonly code?: string;
  readonly error?: ErrorFields;
  readonly headers?: Headers;
}
