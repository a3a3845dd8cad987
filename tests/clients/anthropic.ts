// settings
import Anthropic from '@anthropic-ai/sdk';
// end
import { jsonSchemaOutputFormat } from '@anthropic-ai/sdk/helpers/json-schema';
import { ALWAYS_USAGE } from './differences.ts';
import { messagesRequest } from './messages-request.ts';
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

/** The vendor's own library for JavaScript. */
export const ANTHROPIC: StockClient = {
  name: '@anthropic-ai/sdk',
  packages: ['@anthropic-ai/sdk'],
  settings: new URL(import.meta.url),
  differs: ALWAYS_USAGE,
  start: inThisProcess(ask),
};

/** The vendor's client, as its user sets it up. */
function connect({ baseUrl, key, user }: Address): Anthropic {
  const rootUrl = baseUrl.replace(/\/v1$/, '');
  // settings
  const client = new Anthropic({
    baseURL: rootUrl,
    apiKey: key,
    defaultHeaders: { 'x-service-user': user },
  });
  // end
  return client;
}

interface Heard {
  text: string;
  calls: readonly ToolCall[];
  usage: Told['usage'];
}

async function ask(address: Address, ask: Ask): Promise<Told> {
  const heard: Heard = { text: '', calls: [], usage: undefined };
  const client = connect(address);
  try {
    await (ask.stream ? listen(client, ask, heard) : answer(client, ask, heard));
    return heard;
  } catch (error) {
    return { ...heard, failure: failureOf(error) };
  }
}

async function answer(client: Anthropic, ask: Ask, heard: Heard): Promise<void> {
  const body = messagesRequest(ask);
  if (ask.schema === undefined) {
    // settings

    const message = await client.messages.create(body);
    // end
    hear(message, heard);
  } else {
    const format = jsonSchemaOutputFormat({ ...ask.schema, type: 'object' });
    const message = await client.messages.parse({ ...body, output_config: { format } });
    hear(message, heard);
    heard.text = JSON.stringify(message.parsed_output);
  }
}

async function listen(client: Anthropic, ask: Ask, heard: Heard): Promise<void> {
  const body = messagesRequest(ask);
  // settings

  const stream = client.messages.stream(body);
  for await (const event of stream) {
    if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') heard.text += event.delta.text;
    // end
    if (ask.leaves === true && heard.text !== '') return stream.abort();
    // settings
  }
  const whole = await stream.finalMessage();
  // end
  hear(whole, heard);
}

function hear({ content, usage }: Pick<Anthropic.Message, 'content' | 'usage'>, heard: Heard): void {
  heard.text = content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('');
  heard.calls = content.flatMap((block) => {
    return block.type === 'tool_use' ? { id: block.id, name: block.name, arguments: block.input } : [];
  });
  heard.usage = { prompt: usage.input_tokens, completion: usage.output_tokens };
}

/** What its user can read from an error that it raises. */
function failureOf(error: unknown): Failure {
  if (!(error instanceof Anthropic.APIError)) return { message: String(error) };
  const body = error.error as { readonly error?: ErrorFields; readonly topupUrl?: string } | undefined;
  return {
    message: error.message,
    status: error.status as number | undefined,
    code: body?.error?.code,
    link: body?.topupUrl,
    linkInHeaders: (error.headers as Headers | undefined)?.get('x-service-topup-url'),
  };
}
