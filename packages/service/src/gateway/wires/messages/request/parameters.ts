import { anything, neutral, oneOf, structured, TOKENS_MAX, type Values, whole } from '#gateway/parameters/values.ts';
import { PARAMETERS as OF_CHAT } from '#gateway/parameters/parameters.ts';
import { createParameterCheck } from '#gateway/request/parameter-check.ts';
import { readMark } from '#gateway/wires/messages/conversation/content.ts';
import { isFault } from '#gateway/wires/messages/conversation/faults.ts';
import { isJsonObject } from '#kernel/text/json.ts';

/** The values that a parameter of chat completions takes. */
function like(name: string): Values {
  const values = OF_CHAT.get(name);
  if (values === undefined) throw new Error(`Chat completions have no parameter ${name}.`);
  return values;
}

export const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'];
const effort = oneOf(EFFORTS);

const FORMAT_SCHEMA = {
  type: 'object',
  properties: { type: { const: 'json_schema' }, schema: { type: 'object' } },
  required: ['type', 'schema'],
};

const format = structured(FORMAT_SCHEMA, (value, path) => {
  if (!isJsonObject(value)) return { path, expects: 'an object with the `type` "json_schema" and a `schema`' };
  if (value['type'] !== 'json_schema') return { path: `${path}.type`, expects: '"json_schema"' };
  return isJsonObject(value['schema']) ? undefined : { path: `${path}.schema`, expects: 'an object, a JSON schema' };
});

/** An object whose members are these, and others that say nothing here. */
function openObject(members: Readonly<Record<string, Values>>): Values {
  const schemas = Object.entries(members).map(([name, { schema }]) => [name, { anyOf: [schema, { type: 'null' }] }]);
  return structured({ type: 'object', properties: Object.fromEntries(schemas) }, (value, path) => {
    if (!isJsonObject(value)) return { path, expects: 'an object' };
    for (const [name, member] of Object.entries(members)) {
      const given = value[name] ?? null;
      const fault = given === null ? undefined : member.faultOf(given, `${path}.${name}`);
      if (fault !== undefined) return fault;
    }
    return undefined;
  });
}

const THINKING_TYPES = ['enabled', 'disabled', 'adaptive'];
const THINKING_SCHEMA = {
  type: 'object',
  properties: {
    type: { enum: THINKING_TYPES },
    budget_tokens: { anyOf: [whole(1, TOKENS_MAX).schema, { type: 'null' }] },
  },
  required: ['type'],
};

const thinking = structured(THINKING_SCHEMA, (value, path) => {
  if (!isJsonObject(value)) return { path, expects: 'an object with a `type`' };
  const { type, budget_tokens: budget = null } = value;
  if (!THINKING_TYPES.some((one) => one === type)) {
    return { path: `${path}.type`, expects: 'one of "enabled", "disabled", "adaptive"' };
  }
  return budget === null ? undefined : whole(1, TOKENS_MAX).faultOf(budget, `${path}.budget_tokens`);
});

const STOPS_SCHEMA = { type: 'array', items: { type: 'string' }, maxItems: 4 };
const stopSequences = structured(STOPS_SCHEMA, (value, path) =>
  Array.isArray(value) ? like('stop').faultOf(value, path) : { path, expects: 'an array of strings' },
);

const MARK_SCHEMA = {
  type: 'object',
  properties: { type: { const: 'ephemeral' }, ttl: { enum: ['5m', '1h', null] } },
  required: ['type'],
};
const cacheControl = structured(MARK_SCHEMA, (value, path) => {
  const read = readMark(value, () => path);
  return isFault(read) ? read : undefined;
});

const TOP_K_MAX = 1_000_000;

/**
 * Every parameter of the Messages interface that the gateway can price, with the values that it takes here (`docs/PARAMETERS.md`).
 * `model`, `messages`, `system`, `tools` and `tool_choice` are checked where they are read.
 */
export const PARAMETERS: ReadonlyMap<string, Values> = new Map([
  ['betas', anything],
  ['cache_control', cacheControl],
  ['context_management', anything],
  ['inference_geo', neutral('global')],
  ['max_tokens', like('max_completion_tokens')],
  ['mcp_servers', neutral([])],
  ['metadata', anything],
  ['output_config', openObject({ effort, format })],
  ['output_format', format],
  ['service_tier', neutral('auto', 'standard_only')],
  ['speed', neutral('standard')],
  ['stop_sequences', stopSequences],
  ['stream', like('stream')],
  ['system', anything],
  ['temperature', like('temperature')],
  ['thinking', thinking],
  ['tool_choice', anything],
  ['tools', anything],
  ['top_k', whole(0, TOP_K_MAX)],
  ['top_p', like('top_p')],
]);

/** Parameters that are refused with any value, and values that are refused, each with what to do instead. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['container', 'Code runs at no vendor from here: offer a tool of your own with an `input_schema`.'],
  ['inference_geo', 'Other places than "global" cost more, and have no price here: leave it out.'],
  ['mcp_servers', 'Servers are not called from here: call them yourself, and offer their tools in `tools`.'],
  ['service_tier', 'It has no price here: say "auto", or leave it out.'],
  ['speed', 'A faster answer costs more, and has no price here: leave it out.'],
]);

const ONLY_CHAT = 'It is a parameter of `POST /v1/chat/completions`.';

/** Names of other interfaces, each with what to use here. */
const FOREIGN: ReadonlyMap<string, string> = new Map([
  ['frequency_penalty', ONLY_CHAT],
  ['input', 'This endpoint takes `messages`: choose the Messages interface of your client.'],
  ['instructions', 'Use `system`.'],
  ['max_completion_tokens', 'Use `max_tokens`.'],
  ['max_output_tokens', 'Use `max_tokens`.'],
  ['n', 'A call has one answer here.'],
  ['parallel_tool_calls', 'Use `tool_choice.disable_parallel_tool_use`.'],
  ['presence_penalty', ONLY_CHAT],
  ['prompt', 'This endpoint takes `messages`: choose the Messages interface of your client.'],
  ['reasoning_effort', 'Use `output_config.effort`.'],
  ['response_format', 'Use `output_config.format`.'],
  ['seed', ONLY_CHAT],
  ['stop', 'Use `stop_sequences`.'],
  ['user', '`x-service-user` names the end user.'],
]);

/** Finds the first parameter of a body that is unknown, is refused by its name, or has a value that is not taken. */
export const findBadParameter = createParameterCheck({
  readApart: ['model', 'messages'],
  values: PARAMETERS,
  refused: REFUSED,
  foreign: FOREIGN,
});
