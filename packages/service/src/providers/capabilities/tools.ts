import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { strayIn, type Unsupported } from '#providers/capabilities/rules.ts';

const TOOL_FIELDS: ReadonlySet<string> = new Set(['type', 'function', 'cache_control']);
const FUNCTION_FIELDS: ReadonlySet<string> = new Set(['name', 'description', 'parameters', 'strict']);

/** The first field of a tool that has no place in a translation, or the first `strict` that is true where it cannot be. */
export function findInTools(
  value: unknown,
  strictFault: (parameters: unknown) => string | undefined,
): Unsupported | undefined {
  for (const [place, tool] of (value as readonly JsonObject[]).entries()) {
    const path = `tools[${place}]`;
    const described = tool['function'] as JsonObject;
    const stray = strayIn(tool, TOOL_FIELDS, path) ?? strayIn(described, FUNCTION_FIELDS, `${path}.function`);
    if (stray !== undefined) return stray;
    const advice = described['strict'] === true ? strictFault(described['parameters']) : undefined;
    if (advice !== undefined) return { path: `${path}.function.strict`, advice };
  }
  return undefined;
}

/** Returns true for a choice that makes the model call a tool. */
export function isForced(choice: unknown): boolean {
  if (!isJsonObject(choice)) return choice === 'required';
  const allowed = choice['allowed_tools'];
  return isJsonObject(allowed) ? allowed['mode'] === 'required' : true;
}

/** Words of a schema that Anthropic's structured output has a place for, some of them as a text in the description. */
const SCHEMA_WORDS: ReadonlySet<string> = new Set(
  `$ref $schema $id title description default const enum type anyOf oneOf allOf definitions $defs properties additionalProperties
  required items format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern minItems maxItems
  uniqueItems minProperties maxProperties not`.split(/\s+/),
);

/** The path of the first word of a schema that would be lost; undefined if all of it arrives. */
export function findLostWord(schema: unknown, path: string): string | undefined {
  if (!isJsonObject(schema)) return undefined;
  const unknown = Object.keys(schema).find((word) => !SCHEMA_WORDS.has(word));
  if (unknown !== undefined) return `${path}.${unknown}`;
  if (schema['$ref'] !== undefined && Object.keys(schema).length > 1) return `${path}.$ref`;
  if (schema['anyOf'] !== undefined && schema['oneOf'] !== undefined) return `${path}.oneOf`;
  // An object of named properties only: the vendor takes no other.
  const { additionalProperties } = schema;
  if (additionalProperties !== undefined && additionalProperties !== false) return `${path}.additionalProperties`;
  for (const list of ['anyOf', 'oneOf', 'allOf', 'items']) {
    const listed = schema[list];
    const items = Array.isArray(listed)
      ? listed.map((item, at) => [item, `${path}.${list}[${at}]`] as const)
      : [[listed, `${path}.${list}`] as const];
    for (const [item, at] of items) {
      const lost = findLostWord(item, at);
      if (lost !== undefined) return lost;
    }
  }
  for (const map of ['properties', 'definitions', '$defs']) {
    const named = schema[map];
    if (!isJsonObject(named)) continue;
    for (const name of Object.keys(named)) {
      const lost = findLostWord(named[name], `${path}.${map}.${name}`);
      if (lost !== undefined) return lost;
    }
  }
  return undefined;
}
