import OpenAI from 'openai';
import { ALWAYS_USAGE } from './differences.ts';
import { connect, failureOf } from './openai.ts';
import { responsesRequest } from './responses-request.ts';
import {
  type Address,
  type Ask,
  type Failure,
  inThisProcess,
  type StockClient,
  type ToolCall,
  type Told,
} from './stock-client.ts';

/** The vendor's own library for JavaScript, with its newer interface. */
export const OPENAI_RESPONSES: StockClient = {
  name: 'openai, `responses`',
  packages: ['openai'],
  settings: new URL(import.meta.url),
  differs: ALWAYS_USAGE,
  start: inThisProcess(ask),
};

interface Heard {
  text: string;
  calls: readonly ToolCall[];
  usage: Told['usage'];
  failure?: Failure;
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

async function answer(client: OpenAI, ask: Ask, heard: Heard): Promise<void> {
  const body = responsesRequest(ask);
  if (ask.schema === undefined) {
    // settings
    const whole = await client.responses.create(body);
    // end
    hear(whole, heard);
  } else {
    const { output_parsed: shaped, ...response } = await client.responses.parse(body);
    hear(response, heard);
    heard.text = JSON.stringify(shaped);
  }
}

async function listen(client: OpenAI, ask: Ask, heard: Heard): Promise<void> {
  const { stream: _unset, ...body } = responsesRequest(ask);
  // settings
  const stream = client.responses.stream(body);
  for await (const event of stream) {
    if (event.type === 'response.output_text.delta') heard.text += event.delta;
    // end
    if (ask.leaves === true && heard.text !== '') return stream.abort();
    // settings
  }
  const response = await stream.finalResponse(); // A stream that failed raises before this.
  // end
  hear(response, heard);
}

type Answered = Pick<OpenAI.Responses.Response, 'output' | 'output_text' | 'usage'>;

function hear({ output, output_text: text, usage }: Answered, heard: Heard): void {
  heard.text = text;
  heard.calls = output.flatMap((item) => {
    if (item.type !== 'function_call') return [];
    return { id: item.call_id, name: item.name, arguments: JSON.parse(item.arguments) as unknown };
  });
  heard.usage = usage && { prompt: usage.input_tokens, completion: usage.output_tokens };
}
