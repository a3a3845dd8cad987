import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { type Claude, claudeOf } from '#providers/models/claude.ts';
import { isNovaReasoning, isOpenAi, isOpenWeightOpenAi, schemaWayOf, takesStrict } from '#providers/models/bedrock.ts';
import { findEffort, findForced, findInSchema, findSampling, findStop } from '#providers/capabilities/anthropic.ts';
import { findBadCacheMark, findInMessages } from '#providers/capabilities/messages.ts';
import {
  type Capabilities,
  type Find,
  is,
  never,
  refused,
  type RuleContext,
  WITHOUT_COUNTERPART,
} from '#providers/capabilities/rules.ts';
import { findInTools } from '#providers/capabilities/tools.ts';

const PLAIN = 'Leave it out: this model does not take it.';

function isGiven(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

/** Finds tool calls and results without tools. Converse takes them only beside tools. */
function findToolsWithoutTools({ request }: RuleContext) {
  const messages = request['messages'] as readonly JsonObject[];
  const place = messages.findIndex(({ role, tool_calls: calls }) => role === 'tool' || isGiven(calls));
  if (place === -1) return undefined;
  const path = `messages[${place}]`;
  const isOffered = isGiven(request['tools']);
  if (!isOffered) return { path, advice: 'Send the tools of the conversation again, in `tools`.' };
  return request['tool_choice'] === 'none'
    ? { path: 'tool_choice', advice: 'Use "auto": its provider takes tool calls in messages only beside tools.' }
    : undefined;
}

function findToolMark({ request }: RuleContext) {
  const tools = (request['tools'] ?? []) as readonly JsonObject[];
  const place = tools.findIndex(({ cache_control: mark }) => mark !== undefined && mark !== null);
  return place === -1 ? undefined : { path: `tools[${place}].cache_control`, advice: 'Put it on the system message.' };
}

const findFormat: Find = (value, context) => {
  const type = isJsonObject(value) ? value['type'] : undefined;
  if (type === 'text') return undefined;
  if (type === 'json_object') return { path: 'response_format.type', advice: 'Use "json_schema", with a schema.' };
  const { request, providerModel } = context;
  const way = schemaWayOf(providerModel);
  if (way === 'field') return findInSchema(value, context);
  const path = 'response_format';
  if (way === undefined) return { path, advice: 'Offer a tool with the schema, and ask for it in the prompt.' };
  if (isGiven(request['tools'])) return { path, advice: 'Leave it out, or `tools`: this model takes one of the two.' };
  const effort = request['reasoning_effort'];
  const isThinking = typeof effort === 'string' && effort !== 'none' && claudeOf(providerModel)?.thinking === 'budget';
  if (isThinking) return { path, advice: 'Leave it out, or `reasoning_effort`.' };
  const format = isJsonObject(value) ? value['json_schema'] : undefined;
  const isDescribed = isJsonObject(format) && isJsonObject(format['schema']);
  return isDescribed ? undefined : { path: `${path}.json_schema.schema`, advice: 'Give a schema.' };
};

function findEffortOf(providerModel: string, claude: Claude | undefined, effort: unknown, context: RuleContext) {
  if (claude !== undefined) return findEffort(claude, effort, context);
  const path = 'reasoning_effort';
  if (isNovaReasoning(providerModel)) {
    const isTaken = effort === 'none' || effort === 'low' || effort === 'medium';
    return isTaken ? undefined : { path, advice: 'Use "none", "low" or "medium".' };
  }
  if (!isOpenAi(providerModel)) return { path, advice: PLAIN };
  const isTaken = effort === 'low' || effort === 'medium' || effort === 'high';
  return isTaken ? undefined : { path, advice: 'Use "low", "medium" or "high".' };
}

function findSamplingOf(name: 'temperature' | 'top_p', value: unknown, context: RuleContext) {
  const { providerModel } = context;
  if (isOpenAi(providerModel) && !isOpenWeightOpenAi(providerModel)) return { path: name, advice: PLAIN };
  return findSampling(name, claudeOf(providerModel), value, context);
}

/** Says what is wrong with a strict tool. Converse wants every object of one to be closed. */
function strictFault(providerModel: string): (parameters: unknown) => string | undefined {
  return (parameters) => {
    if (!takesStrict(providerModel)) return PLAIN;
    return isClosed(parameters) ? undefined : 'Every object of the schema needs `"additionalProperties": false`.';
  };
}

function isClosed(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isClosed);
  if (!isJsonObject(schema)) return true;
  const isOpen = schema['type'] === 'object' && schema['additionalProperties'] !== false;
  return !isOpen && Object.values(schema).every(isClosed);
}

/** The capabilities of kind `bedrock`, Amazon Bedrock's Converse format. */
export const BEDROCK: Capabilities = {
  ...WITHOUT_COUNTERPART,
  frequency_penalty: refused('frequency_penalty', is(0), 'unless 0'),
  presence_penalty: refused('presence_penalty', is(0), 'unless 0'),
  seed: refused('seed', never),
  safety_identifier: { does: 'kept' },
  verbosity: refused('verbosity', is('medium'), 'unless "medium"'),
  messages: {
    does: 'translated',
    words: 'system messages first; images as data; no `name`; tool calls only beside `tools`',
    find: (value, context) =>
      findInMessages(value, { toolCallFields: [], hasToolImages: true, toolName: /^[\w-]+$/ }) ??
      findToolsWithoutTools(context) ??
      findBadCacheMark(context.request),
  },
  parallel_tool_calls: {
    does: 'translated',
    words: 'false only for Claude',
    find: (value, { providerModel }) =>
      value === true || claudeOf(providerModel) !== undefined
        ? undefined
        : { path: 'parallel_tool_calls', advice: PLAIN },
  },
  reasoning_effort: {
    does: 'translated',
    words: 'Claude as at Anthropic; Nova 2 Lite "low" and "medium"; OpenAI’s "low" to "high"',
    find: (value, context) => findEffortOf(context.providerModel, claudeOf(context.providerModel), value, context),
  },
  response_format: {
    does: 'translated',
    words: 'a JSON schema; without `tools` if the model is given it as a tool',
    find: findFormat,
  },
  stop: {
    does: 'translated',
    words: 'no blank ones; not by OpenAI’s models',
    find: (value, context) =>
      isOpenAi(context.providerModel) ? { path: 'stop', advice: PLAIN } : findStop(value, context),
  },
  temperature: {
    does: 'forwarded',
    words: '0 to 1; Claude as at Anthropic',
    find: (value, context) => findSamplingOf('temperature', value, context),
  },
  tool_choice: {
    does: 'translated',
    words: 'some models cannot be forced',
    find: (value, { providerModel }) => findForced(claudeOf(providerModel), value),
  },
  tools: {
    does: 'translated',
    words: '`strict` by model; no `cache_control`',
    find: (value, context) => findToolMark(context) ?? findInTools(value, strictFault(context.providerModel)),
  },
  top_p: {
    does: 'forwarded',
    words: 'as `temperature`; by Claude not beside it',
    find: (value, context) => findSamplingOf('top_p', value, context),
  },
};
