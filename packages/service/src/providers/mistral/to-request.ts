import { sha256 } from '#kernel/crypto/crypto.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { isBlank, saysSomething } from '#providers/models/blank-texts.ts';
import type { ProviderCall } from '#providers/port/provider.ts';

/** Members that Mistral knows by the same name. `providers/capabilities/mistral.ts` refuses what it knows by none. */
const SAME = [
  'temperature',
  'top_p',
  'stop',
  'presence_penalty',
  'frequency_penalty',
  'n',
  'parallel_tool_calls',
  'response_format',
] as const;

/** The only form of an id that Mistral takes. */
const CALL_ID = /^[A-Za-z0-9]{9}$/;
const NO_PARAMETERS = { type: 'object', properties: {} };

/** The body of a request in Mistral's dialect. It refuses members that it does not know, so the body is made anew. */
export function toMistralRequest(call: ProviderCall, isStream: boolean): string {
  const { request, providerModel, outputTokens } = call;
  const { messages, seed, tools, tool_choice: choice, reasoning_effort: effort } = request;
  const body: Record<string, unknown> = { model: providerModel, max_tokens: outputTokens };
  // Its streams report their usage without being asked.
  if (isStream) body['stream'] = true;
  // It refuses an earlier answer that has neither a text nor calls.
  body['messages'] = listOf(messages).filter(isSaid).map(messageOf);
  for (const name of SAME) if (request[name] !== undefined) body[name] = request[name];
  if (seed !== undefined) body['random_seed'] = seed;
  if (effort === 'none' || effort === 'high') body['reasoning_effort'] = effort;
  if (tools !== undefined) body['tools'] = listOf(tools).map(toolOf);
  if (choice !== undefined) body['tool_choice'] = choice === 'required' ? 'any' : choice;
  return JSON.stringify(body);
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonObject[]) : [];
}

function isSaid(message: JsonObject): boolean {
  return message['role'] !== 'assistant' || saysSomething(message) || !isBlank(message['reasoning_content']);
}

function messageOf(message: JsonObject): JsonObject {
  const { role, content, tool_call_id: id, name } = message;
  switch (role) {
    case 'developer':
      return { role: 'system', content };
    case 'assistant':
      return assistantMessageOf(message);
    case 'tool':
      return { role, content, tool_call_id: callIdOf(id), ...(typeof name === 'string' && { name }) };
    default:
      return { role, content };
  }
}

/** An earlier answer. What a model thought goes back as the part that it came as. */
function assistantMessageOf({
  content,
  refusal,
  reasoning_content: thoughts,
  tool_calls: calls,
}: JsonObject): JsonObject {
  const said = content ?? refusal ?? '';
  const toolCalls = listOf(calls).map((call) => ({ ...called(call), id: callIdOf(call['id']), type: 'function' }));
  return {
    role: 'assistant',
    content: typeof thoughts === 'string' && thoughts !== '' ? [thinking(thoughts), ...partsOf(said)] : said,
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
  };
}

function thinking(text: string): JsonObject {
  return { type: 'thinking', thinking: [{ type: 'text', text }] };
}

function partsOf(content: unknown): readonly unknown[] {
  if (Array.isArray(content)) return content;
  return content === '' ? [] : [{ type: 'text', text: content }];
}

function called({ function: described }: JsonObject): JsonObject {
  const { name, arguments: words } = isJsonObject(described) ? described : {};
  return { function: { name, arguments: words } };
}

/** Ids of other models are shortened, always in the same way: a call and its result must have the same. */
function callIdOf(id: unknown): string {
  const text = String(id);
  return CALL_ID.test(text) ? text : sha256(text).toString('hex').slice(0, 9);
}

function toolOf({ function: described }: JsonObject): JsonObject {
  const tool = isJsonObject(described) ? described : {};
  return { type: 'function', function: { ...tool, parameters: tool['parameters'] ?? NO_PARAMETERS } };
}
