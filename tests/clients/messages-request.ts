import type Anthropic from '@anthropic-ai/sdk';
import type { Ask, Message } from './stock-client.ts';

const LIMIT = 1_000;

/** A call as Messages write it, for clients that speak them directly. */
export function messagesRequest({
  messages,
  tools,
  schema,
}: Pick<Ask, 'messages' | 'tools' | 'schema'>): Anthropic.MessageCreateParamsNonStreaming {
  return {
    model: 'large',
    max_tokens: LIMIT,
    messages: messages.map(messageParam),
    ...(tools === undefined
      ? {}
      : {
          tools: tools.map(({ name, parameters }) => ({
            name,
            input_schema: { ...parameters, type: 'object' as const },
          })),
        }),
    ...(schema === undefined ? {} : { output_config: { format: { type: 'json_schema', schema } } }),
  };
}

function messageParam(message: Message): Anthropic.MessageParam {
  switch (message.role) {
    case 'user': {
      const { text, image } = message;
      if (image === undefined) return { role: 'user', content: text };
      const [, data = ''] = image.split(',');
      const source = { type: 'base64' as const, media_type: 'image/png' as const, data };
      return {
        role: 'user',
        content: [
          { type: 'text', text },
          { type: 'image', source },
        ],
      };
    }
    case 'assistant':
      return {
        role: 'assistant',
        content: message.calls.map(({ id, name, arguments: input }) => ({ type: 'tool_use', id, name, input })),
      };
    case 'tool': {
      const { call, result } = message;
      return { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: result }] };
    }
  }
}
