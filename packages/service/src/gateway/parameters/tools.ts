import {
  BOOLEAN_OR_NULL,
  firstFault,
  NAME_SCHEMA,
  nameFault,
  OBJECT_OR_NULL,
  objectFault,
  strictFault,
  structured,
  type ValueFault,
} from '#gateway/parameters/values.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

/** What a request may say of tools. Only functions are taken: other tools run at the provider and have no price here. */

const TOOLS_SCHEMA = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      type: { const: 'function' },
      function: {
        type: 'object',
        properties: { name: NAME_SCHEMA, parameters: OBJECT_OR_NULL, strict: BOOLEAN_OR_NULL },
        required: ['name'],
      },
    },
    required: ['type', 'function'],
  },
};

export const tools = structured(TOOLS_SCHEMA, (value, path) => {
  if (!Array.isArray(value)) return { path, expects: 'an array of tools' };
  return firstFault(value, path, toolFault);
});

function toolFault(tool: unknown, path: string): ValueFault | undefined {
  if (!isJsonObject(tool)) return { path, expects: 'an object of type "function"' };
  if (tool['type'] !== 'function') {
    return { path: `${path}.type`, expects: '"function": tools of other types have no price here' };
  }
  const { function: described, name } = tool;
  if (isJsonObject(described)) {
    const at = `${path}.function`;
    return nameFault(described, at) ?? objectFault(described, 'parameters', at) ?? strictFault(described, at);
  }
  const isFlat = described === undefined && typeof name === 'string';
  const flat = ' This is the form of the Responses interface: here they go into `function`';
  return { path: `${path}.function`, expects: `an object with \`name\` and \`parameters\`${isFlat ? `.${flat}` : ''}` };
}

const NAMED_SCHEMA = {
  type: 'object',
  properties: {
    type: { const: 'function' },
    function: { type: 'object', properties: { name: NAME_SCHEMA }, required: ['name'] },
  },
  required: ['type', 'function'],
};

const TOOL_CHOICE_SCHEMA = {
  anyOf: [
    { enum: ['none', 'auto', 'required'] },
    NAMED_SCHEMA,
    {
      type: 'object',
      properties: {
        type: { const: 'allowed_tools' },
        allowed_tools: {
          type: 'object',
          properties: { mode: { enum: ['auto', 'required'] }, tools: { type: 'array', items: NAMED_SCHEMA } },
          required: ['mode', 'tools'],
        },
      },
      required: ['type', 'allowed_tools'],
    },
  ],
};

export const toolChoice = structured(TOOL_CHOICE_SCHEMA, (value, path) => {
  if (value === 'none' || value === 'auto' || value === 'required') return undefined;
  const type = isJsonObject(value) ? value['type'] : undefined;
  if (isJsonObject(value) && type === 'function') return namedFault(value, path);
  if (isJsonObject(value) && type === 'allowed_tools') return allowedFault(value, path);
  return { path, expects: '"none", "auto", "required", a named function, or `allowed_tools`' };
});

function namedFault(choice: JsonObject, path: string): ValueFault | undefined {
  const named = choice['function'];
  const at = `${path}.function`;
  return isJsonObject(named) ? nameFault(named, at) : { path: at, expects: 'an object with the `name` of a function' };
}

function allowedFault(choice: JsonObject, path: string): ValueFault | undefined {
  const allowed = choice['allowed_tools'];
  const at = `${path}.allowed_tools`;
  if (!isJsonObject(allowed)) return { path: at, expects: 'an object with `mode` and `tools`' };
  const { mode, tools: listed } = allowed;
  if (mode !== 'auto' && mode !== 'required') return { path: `${at}.mode`, expects: '"auto" or "required"' };
  if (!Array.isArray(listed)) return { path: `${at}.tools`, expects: 'an array of tools' };
  return firstFault(listed, `${at}.tools`, (tool, place) => {
    const isFunction = isJsonObject(tool) && tool['type'] === 'function';
    return isFunction ? namedFault(tool, place) : { path: place, expects: 'a tool of type "function"' };
  });
}

/**
 * Finds a tool choice that no tool of the request can meet. Every provider would refuse it, and the caller would read that the
 * provider failed. Both parameters must have been checked.
 */
export function findChoiceFault(request: JsonObject): ValueFault | undefined {
  const choice = request['tool_choice'] ?? 'none';
  if (choice === 'none' || choice === 'auto') return undefined;
  const offered = new Set((listOf(request['tools']) ?? []).map(nameOf));
  if (offered.size === 0) return { path: 'tool_choice', expects: '"none" or "auto" where there are no `tools`' };
  if (!isJsonObject(choice)) return undefined;
  const allowed = choice['allowed_tools'];
  const chosen = isJsonObject(allowed) ? listOf(allowed['tools']) : [choice];
  const missing = (chosen ?? []).map(nameOf).find((name) => !offered.has(name));
  return missing === undefined
    ? undefined
    : { path: 'tool_choice', expects: 'about functions that are among the `tools` of the request' };
}

function listOf(value: unknown): readonly JsonObject[] | undefined {
  return Array.isArray(value) ? (value as readonly JsonObject[]) : undefined;
}

/** The function's name in a tool or a choice that was checked. */
function nameOf(tool: JsonObject): unknown {
  return (tool['function'] as JsonObject)['name'];
}
