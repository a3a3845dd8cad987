import type OpenAI from 'openai';
import type { Ask, Message } from './stock-client.ts';

/** A call as the Responses wire writes it, for clients that speak it directly. */
export function responsesRequest({
  messages,
  tools,
  schema,
}: Pick<Ask, 'messages' | 'tools' | 'schema'>): OpenAI.Responses.ResponseCreateParamsNonStreaming {
  return {
    model: 'large',
    input: messages.flatMap(inputItems),
    ...(tools === undefined ? {} : { tools: tools.map((tool) => ({ type: 'function', strict: false, ...tool })) }),
    ...(schema === undefined
      ? {}
      : { text: { format: { type: 'json_schema', name: 'answer', strict: true, schema } } }),
  };
}

function inputItems(message: Message): OpenAI.Responses.ResponseInputItem[] {
  switch (message.role) {
    case 'user': {
      const { text, image } = message;
      if (image === undefined) return [{ role: 'user', content: text }];
      const picture = { type: 'input_image' as const, detail: 'auto' as const, image_url: image };
      return [{ role: 'user', content: [{ type: 'input_text', text }, picture] }];
    }
    case 'assistant':
      return message.calls.map(({ id, name, arguments: given }) => {
        return { type: 'function_call', call_id: id, name, arguments: JSON.stringify(given) };
      });
    case 'tool':
      return [{ type: 'function_call_output', call_id: message.call.id, output: message.result }];
  }
}
