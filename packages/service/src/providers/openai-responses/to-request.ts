import { isJsonObject, type JsonObject, parseJson } from '#kernel/text/json.ts';
import type { ToRequest } from '#providers/openai-compatible/to-request.ts';
import { hasSealedReasoning, inputItems, type InputSettings } from '#providers/openai-responses/input-items.ts';
import { listIn } from '#providers/openai-responses/output-items.ts';
import type { ProviderCall } from '#providers/port/provider.ts';

/** What an entry of the catalogue changes about the body. */
interface BodySettings extends InputSettings {
  /** Members that every request has unless the caller sent one of the same name, or the gateway writes it. */
  readonly extraBody?: JsonObject | undefined;
}

/** Parameters with the same name and meaning. */
const SAME = ['temperature', 'top_p', 'parallel_tool_calls', 'prompt_cache_key', 'safety_identifier'] as const;
const NO_PARAMETERS = { type: 'object', properties: {} };
const SEALED_REASONING = 'reasoning.encrypted_content';

/** The body of a request of Responses: the caller's own if they speak it, else a translation. */
export function createToResponsesRequest(settings: BodySettings = {}): ToRequest {
  return (call, isStream) => {
    const { native } = call;
    const ours = {
      model: call.providerModel,
      max_output_tokens: call.outputTokens,
      ...(isStream && { stream: true }),
      // Nothing of a call may stay at the vendor's.
      store: false,
    };
    if (native?.api !== 'responses') {
      const body = { ...ours, ...bodyOf(call, settings) };
      return JSON.stringify({ ...body, ...extraOf(settings, body) });
    }
    // Joined as text: it may be megabytes, and has been written as JSON once, to measure it.
    const { extraBody } = settings;
    const asked = extraBody === undefined ? {} : parseJson(native.text);
    const head = JSON.stringify({ ...ours, ...extraOf(settings, { ...ours, ...(isJsonObject(asked) ? asked : {}) }) });
    return native.text === '{}' ? head : `${head.slice(0, -1)},${native.text.slice(1)}`;
  };
}

/** The members that an entry adds. */
function extraOf({ extraBody = {} }: BodySettings, body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(extraBody).filter(([name]) => body[name] === undefined));
}

/** The members of a translated request. `providers/capabilities/responses.ts` refuses what Responses has no word for. */
function bodyOf(
  { request, isReasoning = false }: ProviderCall,
  { extraBody = {}, ...settings }: BodySettings,
): JsonObject {
  const messages = listIn(request, 'messages');
  const tools = listIn(request, 'tools');
  const { reasoning_effort: effort, verbosity, response_format: format, tool_choice: choice } = request;
  const wantsSeal = isReasoning || effort !== undefined || hasSealedReasoning(messages);
  const body: Record<string, unknown> = { input: inputItems(messages, settings) };
  for (const name of SAME) if (request[name] !== undefined) body[name] = request[name];
  if (tools.length > 0) body['tools'] = tools.map(toolOf);
  if (choice !== undefined) body['tool_choice'] = choiceOf(choice);
  if (wantsSeal) body['include'] = [SEALED_REASONING];
  const reasoning = effort === undefined ? {} : { effort };
  const text = {
    ...(isJsonObject(format) && { format: formatOf(format) }),
    ...(verbosity !== undefined && { verbosity }),
  };
  // An entry may say more of these two, such as that it wants summaries.
  for (const [name, members] of Object.entries({ reasoning, text })) {
    const added = isJsonObject(extraBody[name]) ? extraBody[name] : {};
    if (Object.keys(members).length > 0) body[name] = { ...added, ...members };
  }
  return body;
}

/** Responses holds functions to their schema unless it is told not to; chat completions does not. */
function toolOf({ function: described }: JsonObject): JsonObject {
  const { name, description, parameters, strict } = isJsonObject(described) ? described : {};
  return {
    type: 'function',
    name,
    ...(description !== undefined && { description }),
    parameters: parameters ?? NO_PARAMETERS,
    strict: strict ?? false,
  };
}

function choiceOf(choice: unknown): unknown {
  if (!isJsonObject(choice)) return choice;
  const { allowed_tools: allowed } = choice;
  if (!isJsonObject(allowed)) return namedTool(choice);
  return { type: 'allowed_tools', mode: allowed['mode'], tools: listIn(allowed, 'tools').map(namedTool) };
}

function namedTool({ function: named }: JsonObject): JsonObject {
  return { type: 'function', name: isJsonObject(named) ? named['name'] : undefined };
}

function formatOf({ type, json_schema: described }: JsonObject): JsonObject {
  if (type !== 'json_schema' || !isJsonObject(described)) return { type };
  const { name, description, schema, strict } = described;
  return { type, name, ...(description !== undefined && { description }), schema, strict: strict ?? false };
}
