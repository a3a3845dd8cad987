import type OpenAI from 'openai';
import type { Ask, Message } from './stock-client.ts';

/** A call as the compatible format writes it, for clients that speak this format directly. */
export function wireRequest({
  messages,
  tools,
  schema,
}: Pick<Ask, 'messages' | 'tools' | 'schema'>): OpenAI.ChatCompletionCreateParamsNonStreaming {
  return {
    model: 'large',
    messages: messages.map(wireMessage),
    ...(tools === undefined ? {} : { tools: tools.map((tool) => ({ type: 'function', function: { ...tool } })) }),
    ...(schema === undefined
      ? {}
      : { response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } } }),
  };
}

function wireMessage(message: Message): OpenAI.ChatCompletionMessageParam {
  switch (message.role) {
    case 'user': {
      const { text, image } = message;
      if (image === undefined) return { role: 'user', content: text };
      return {
        role: 'user',
        content: [
          { type: 'text', text },
          { type: 'image_url', image_url: { url: image } },
        ],
      };
    }
    case 'assistant': {
      const calls = message.calls.map(({ id, name, arguments: given }) => {
        return { id, type: 'function' as const, function: { name, arguments: JSON.stringify(given) } };
      });
      return { role: 'assistant', content: null, tool_calls: calls };
    }
    case 'tool':
      return { role: 'tool', tool_call_id: message.call.id, content: message.result };
  }
}
