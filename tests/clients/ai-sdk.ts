import {
  APICallError,
  generateText,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  Output,
  RetryError,
  streamText,
  tool,
  type ToolSet,
} from 'ai';
import type { Ask, ErrorFields, Failure, Message, Told, ToolCall } from './stock-client.ts';

/** One call through the AI SDK. It looks the same for the models of all its providers. */
export async function askThroughAi(model: LanguageModel, ask: Ask, providerOptions: Options = {}): Promise<Told> {
  const request = { ...requestOf(model, ask), providerOptions };
  return ask.stream ? listen(request, ask.leaves === true) : answer(request, ask.schema !== undefined);
}

type Options = Readonly<Record<string, Readonly<Record<string, string>>>>;
type Request = ReturnType<typeof requestOf> & { readonly providerOptions: Options };

async function answer(request: Request, isShaped: boolean): Promise<Told> {
  try {
    const result = await generateText(request);
    const text = isShaped ? JSON.stringify(result.output) : result.text;
    return { text, calls: result.toolCalls.map(callOf), usage: usageOf(result.usage) };
  } catch (error) {
    return { text: '', calls: [], failure: failureOf(error) };
  }
}

async function listen(request: Request, leaves: boolean): Promise<Told> {
  const leaving = new AbortController();
  const calls: ToolCall[] = [];
  const told: { text: string; usage?: Told['usage']; failure?: Failure } = { text: '' };
  const result = streamText({ ...request, abortSignal: leaving.signal, onError: () => {} });
  for await (const part of result.fullStream) {
    if (part.type === 'text-delta') told.text += part.text;
    if (part.type === 'tool-call') calls.push(callOf(part));
    if (part.type === 'finish') told.usage = usageOf(part.totalUsage);
    if (part.type === 'error') told.failure = failureOf(part.error);
    if (leaves && told.text !== '') leaving.abort();
  }
  return { ...told, calls };
}

function requestOf(model: LanguageModel, { messages, tools, schema }: Ask) {
  const toolSet: ToolSet = {};
  for (const { name, parameters } of tools ?? []) toolSet[name] = tool({ inputSchema: jsonSchema(parameters) });
  return {
    model,
    messages: messages.map(messageOf),
    ...(tools === undefined ? {} : { tools: toolSet }),
    ...(schema === undefined ? {} : { output: Output.object({ schema: jsonSchema(schema), name: 'answer' }) }),
  };
}

function messageOf(message: Message): ModelMessage {
  switch (message.role) {
    case 'user': {
      const { text, image } = message;
      if (image === undefined) return { role: 'user', content: text };
      return {
        role: 'user',
        content: [
          { type: 'text', text },
          { type: 'file', mediaType: 'image/png', data: image },
        ],
      };
    }
    case 'assistant':
      return {
        role: 'assistant',
        content: message.calls.map(({ id, name, arguments: input }) => {
          return { type: 'tool-call', toolCallId: id, toolName: name, input };
        }),
      };
    case 'tool': {
      const { id, name } = message.call;
      const output = { type: 'text' as const, value: message.result };
      return { role: 'tool', content: [{ type: 'tool-result', toolCallId: id, toolName: name, output }] };
    }
  }
}

function callOf(call: { readonly toolCallId: string; readonly toolName: string; readonly input: unknown }): ToolCall {
  return { id: call.toolCallId, name: call.toolName, arguments: call.input };
}

function usageOf(usage: { readonly inputTokens: number | undefined; readonly outputTokens: number | undefined }) {
  if (usage.inputTokens === undefined || usage.outputTokens === undefined) return undefined;
  return { prompt: usage.inputTokens, completion: usage.outputTokens };
}

/** Reads the failure that a caller sees. If the client's own retries fail too, the last answer is inside the error. */
function failureOf(error: unknown): Failure {
  const last = RetryError.isInstance(error) ? error.lastError : error;
  if (!APICallError.isInstance(last)) return { message: messageIn(last), code: (last as ErrorFields).code };
  const { error: fields = {} } = JSON.parse(last.responseBody ?? '{}') as { error?: ErrorFields };
  return {
    message: last.message,
    status: last.statusCode,
    code: fields.code,
    link: fields.topupUrl,
    linkInHeaders: last.responseHeaders?.['x-service-topup-url'],
  };
}

function messageIn(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
}
