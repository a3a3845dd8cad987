import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

/** Parameters that an answer says again as they are. All of them are small. */
const REPEATED = new Set([
  'max_output_tokens',
  'max_tool_calls',
  'metadata',
  'parallel_tool_calls',
  'temperature',
  'top_logprobs',
  'top_p',
  'truncation',
]);
const NAME_CHARACTERS_MAX = 128;

/** What an answer says again of its request: small settings only, because a stream keeps them as long as it is open. */
export function settingsOf(body: JsonObject): JsonObject {
  const settings: Record<string, unknown> = {};
  for (const name of Object.keys(body)) if (REPEATED.has(name) && isGiven(body[name])) settings[name] = body[name];
  const { reasoning, text, tool_choice: choice } = body;
  if (isJsonObject(reasoning)) settings['reasoning'] = members(reasoning, ['effort', 'summary', 'context']);
  if (isJsonObject(text)) settings['text'] = { ...members(text, ['verbosity']), ...formatOf(text['format']) };
  if (typeof choice === 'string') settings['tool_choice'] = choice;
  else if (isJsonObject(choice)) settings['tool_choice'] = members(choice, ['type', 'mode', 'name']);
  return settings;
}

/** Of a format of the answer, its type and name. Schemas are large. */
function formatOf(format: unknown): JsonObject {
  if (!isJsonObject(format)) return {};
  return { format: members(format, ['type', 'name']) };
}

function members(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.filter((name) => isSmall(object[name])).map((name) => [name, object[name]]));
}

function isSmall(value: unknown): boolean {
  return typeof value === 'string' && value.length <= NAME_CHARACTERS_MAX;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
