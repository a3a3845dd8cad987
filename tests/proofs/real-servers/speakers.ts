import OpenAI from 'openai';
import { MESSAGES } from './messages-speaker.ts';
import {
  type Ask,
  chargeIn,
  type Heard,
  LONG,
  PARAMETERS,
  PROMPT,
  SCHEMA,
  type Speaker,
  type Target,
} from './speaker.ts';

function clientOf({ url, app, user }: Target): OpenAI {
  const defaultHeaders = { 'x-service-user': user };
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: app.liveKey, defaultHeaders, maxRetries: 0, timeout: 120_000 });
}

function chatBody({ model }: Target, { limit, isOlderName, hasTool, hasSchema }: Ask) {
  const format = { type: 'json_schema' as const, json_schema: { name: 'place', schema: SCHEMA } };
  return {
    model,
    messages: [{ role: 'user' as const, content: PROMPT }],
    ...(isOlderName === true ? { max_tokens: limit } : { max_completion_tokens: limit }),
    ...(hasTool === true
      ? { tools: [{ type: 'function' as const, function: { name: 'weather', parameters: PARAMETERS } }] }
      : {}),
    ...(hasSchema === true ? { response_format: format } : {}),
  };
}

function chatUsage(usage: OpenAI.CompletionUsage | null | undefined): Heard['usage'] {
  if (usage === undefined || usage === null) return undefined;
  const { prompt_tokens: prompt, completion_tokens: completion, prompt_tokens_details: details } = usage;
  return { prompt, completion, cached: details?.cached_tokens ?? 0 };
}

const CHAT: Speaker = {
  name: 'chat completions',
  plain: async (target, ask) => {
    const create = clientOf(target).chat.completions.create(chatBody(target, ask));
    const { data, response } = await create.withResponse();
    const isFinished = data.choices.every(({ finish_reason: reason }) => reason !== null);
    return { charged: chargeIn(response), usage: chatUsage(data.usage), isFinished };
  },
  streamed: async (target, ask) => {
    const body = { ...chatBody(target, ask), stream: true as const, stream_options: { include_usage: true } };
    let usage: OpenAI.CompletionUsage | null | undefined;
    let charged = 0;
    let isFinished = false;
    for await (const chunk of await clientOf(target).chat.completions.create(body)) {
      usage = chunk.usage ?? usage;
      charged = Number((chunk as { charge_micros?: unknown }).charge_micros ?? charged);
      isFinished ||= chunk.choices.some(({ finish_reason: reason }) => reason !== null);
    }
    return { charged, usage: chatUsage(usage), isFinished };
  },
  leave: async (target) => {
    const body = { ...chatBody(target, LONG), stream: true as const };
    const stream = await clientOf(target).chat.completions.create(body);
    for await (const _chunk of stream) break;
    stream.controller.abort();
  },
};

function responsesBody({ model }: Target, { limit, hasTool, hasSchema }: Ask) {
  const format = { type: 'json_schema' as const, name: 'place', schema: SCHEMA };
  return {
    model,
    input: PROMPT,
    max_output_tokens: limit,
    ...(hasTool === true
      ? { tools: [{ type: 'function' as const, name: 'weather', parameters: PARAMETERS, strict: false }] }
      : {}),
    ...(hasSchema === true ? { text: { format } } : {}),
  };
}

function heardIn(response: OpenAI.Responses.Response, charged: number): Heard {
  const { usage, status, incomplete_details: details } = response;
  return {
    charged,
    usage: usage && {
      prompt: usage.input_tokens,
      completion: usage.output_tokens,
      cached: usage.input_tokens_details.cached_tokens,
    },
    isFinished: status === 'completed' || details?.reason !== undefined,
  };
}

/** Reads a stream to its end. The client's helper checks its events, and reads JSON that a limit has cut, so that is read without it. */
async function finalResponse(
  client: OpenAI,
  body: ReturnType<typeof responsesBody>,
): Promise<OpenAI.Responses.Response> {
  if (body.text === undefined) return client.responses.stream(body).finalResponse();
  let last: OpenAI.Responses.Response | undefined;
  for await (const event of await client.responses.create({ ...body, stream: true })) {
    if (event.type === 'response.completed' || event.type === 'response.incomplete') last = event.response;
  }
  if (last === undefined) throw new Error('The stream has no end.');
  return last;
}

const RESPONSES: Speaker = {
  name: 'Responses',
  plain: async (target, ask) => {
    const { data, response } = await clientOf(target).responses.create(responsesBody(target, ask)).withResponse();
    return heardIn(data, chargeIn(response));
  },
  streamed: async (target, ask) => {
    const response = await finalResponse(clientOf(target), responsesBody(target, ask));
    return heardIn(response, Number((response as { charge_micros?: unknown }).charge_micros));
  },
  leave: async (target) => {
    const stream = await clientOf(target).responses.create({ ...responsesBody(target, LONG), stream: true });
    for await (const event of stream) if (event.type === 'response.output_text.delta') break;
    stream.controller.abort();
  },
};

/** Every wire that is served. */
export const SPEAKERS: readonly Speaker[] = [CHAT, RESPONSES, MESSAGES];
