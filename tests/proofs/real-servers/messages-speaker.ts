import Anthropic from '@anthropic-ai/sdk';
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

function clientOf({ url, app, user }: Target): Anthropic {
  const defaultHeaders = { 'x-service-user': user };
  return new Anthropic({ baseURL: url, apiKey: app.liveKey, defaultHeaders, maxRetries: 0, timeout: 120_000 });
}

function bodyOf({ model }: Target, { limit, hasTool, hasSchema }: Ask) {
  const schema = { ...SCHEMA, additionalProperties: false };
  return {
    model,
    max_tokens: limit,
    messages: [{ role: 'user' as const, content: PROMPT }],
    ...(hasTool === true
      ? { tools: [{ name: 'weather', input_schema: { ...PARAMETERS, type: 'object' as const } }] }
      : {}),
    ...(hasSchema === true ? { output_config: { format: { type: 'json_schema' as const, schema } } } : {}),
  };
}

/** On this wire, tokens from a cache lie beside those of the input. */
function heardIn({ usage, stop_reason: reason }: Anthropic.Message, charged: number): Heard {
  const cached = usage.cache_read_input_tokens ?? 0;
  return {
    charged,
    usage: { prompt: usage.input_tokens + cached, completion: usage.output_tokens, cached },
    isFinished: reason !== null,
  };
}

export const MESSAGES: Speaker = {
  name: 'Messages',
  plain: async (target, ask) => {
    const { data, response } = await clientOf(target).messages.create(bodyOf(target, ask)).withResponse();
    return heardIn(data, chargeIn(response));
  },
  streamed: async (target, ask) => {
    const stream = clientOf(target).messages.stream(bodyOf(target, ask));
    let charged = 0;
    stream.on('streamEvent', (event) => {
      charged = Number((event as { charge_micros?: unknown }).charge_micros ?? charged);
    });
    return heardIn(await stream.finalMessage(), charged);
  },
  leave: async (target) => {
    const stream = await clientOf(target).messages.create({ ...bodyOf(target, LONG), stream: true });
    for await (const event of stream) if (event.type === 'content_block_delta') break;
    stream.controller.abort();
  },
};
