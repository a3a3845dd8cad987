import { isJsonObject } from '#kernel/text/json.ts';
import { type Claude, claudeOf } from '#providers/models/claude.ts';
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
import { findInTools, findLostWord, isForced } from '#providers/capabilities/tools.ts';

const PLAIN = 'Leave it out: this model does not take it.';

function isThinking({ request }: RuleContext): boolean {
  const effort = request['reasoning_effort'];
  return typeof effort === 'string' && effort !== 'none';
}

/**
 * Checks sampling by `temperature` or `top_p`: only some models take it, none while it thinks, and only one of the two.
 */
export function findSampling(
  name: 'temperature' | 'top_p',
  claude: Claude | undefined,
  value: unknown,
  context: RuleContext,
) {
  if (value === 1) return undefined;
  if (claude?.hasSampling === false) return { path: name, advice: PLAIN };
  if (claude !== undefined && isThinking(context))
    return { path: name, advice: 'Leave it out, or `reasoning_effort`.' };
  if (name === 'temperature' && Number(value) > 1) return { path: name, advice: 'Its provider takes 0 to 1.' };
  const { temperature } = context.request;
  const hasBoth = name === 'top_p' && claude !== undefined && typeof temperature === 'number' && temperature !== 1;
  return hasBoth ? { path: name, advice: 'Its provider takes `temperature` or `top_p`, not both.' } : undefined;
}

export function findEffort(claude: Claude | undefined, effort: unknown, { request }: RuleContext) {
  const path = 'reasoning_effort';
  if (claude === undefined || claude.thinking === 'none') return { path, advice: PLAIN };
  if (effort === 'none') {
    return claude.canStopThinking ? undefined : { path, advice: 'This model always thinks: "low" is its least.' };
  }
  if (effort === 'xhigh' && !claude.hasXhigh && claude.thinking === 'effort') {
    return { path, advice: 'Use "high" or "max".' };
  }
  return isForced(request['tool_choice']) && claude.thinking === 'budget'
    ? { path, advice: 'While it thinks, this model cannot be made to call a tool: leave out one of the two.' }
    : undefined;
}

export function findForced(claude: Claude | undefined, choice: unknown) {
  if (claude?.takesForcedTools !== false || !isForced(choice)) return undefined;
  return { path: 'tool_choice', advice: 'This model cannot be made to call a tool: ask for it in the prompt.' };
}

/** A JSON schema that a Claude takes as it is, but for words that go into descriptions. */
export const findInSchema: Find = (value) => {
  const path = 'response_format.json_schema.schema';
  const format = isJsonObject(value) ? value['json_schema'] : undefined;
  const schema = isJsonObject(format) ? format['schema'] : undefined;
  if (!isJsonObject(schema)) return { path, advice: 'Give a schema: its provider takes none without.' };
  const lost = findLostWord(schema, path);
  return lost === undefined ? undefined : { path: lost, advice: 'Its provider does not take this word in a schema.' };
};

const findFormat: Find = (value, context) => {
  const type = isJsonObject(value) ? value['type'] : undefined;
  if (type === 'text') return undefined;
  if (type === 'json_object') return { path: 'response_format.type', advice: 'Use "json_schema", with a schema.' };
  const { hasSchema } = claudeOf(context.providerModel) ?? { hasSchema: false };
  return hasSchema
    ? findInSchema(value, context)
    : { path: 'response_format', advice: 'Make the model call a tool with the schema.' };
};

export const findStop: Find = (value) => {
  const all: readonly unknown[] = Array.isArray(value) ? value : [value];
  return all.every((text) => typeof text === 'string' && text.trim() !== '')
    ? undefined
    : { path: 'stop', advice: 'Its provider takes no stop sequence of spaces alone.' };
};

/** The capabilities of kind `anthropic`, Anthropic's Messages format. */
export const ANTHROPIC: Capabilities = {
  ...WITHOUT_COUNTERPART,
  frequency_penalty: refused('frequency_penalty', is(0), 'unless 0'),
  presence_penalty: refused('presence_penalty', is(0), 'unless 0'),
  seed: refused('seed', never),
  verbosity: refused('verbosity', is('medium'), 'unless "medium"'),
  messages: {
    does: 'translated',
    words: 'system messages first; images as data; no `name`',
    find: (value, { request }) =>
      findInMessages(value, { toolCallFields: [], hasToolImages: true }) ?? findBadCacheMark(request),
  },
  parallel_tool_calls: { does: 'translated' },
  reasoning_effort: {
    does: 'translated',
    words: 'to an effort or a thinking budget, by model; "minimal" as "low"',
    find: (value, context) => findEffort(claudeOf(context.providerModel), value, context),
  },
  response_format: {
    does: 'translated',
    words: 'a JSON schema, from Claude 4.1 on; no "json_object"',
    find: findFormat,
  },
  safety_identifier: { does: 'translated', words: 'to `metadata.user_id`' },
  stop: { does: 'translated', words: 'no blank ones', find: findStop },
  temperature: {
    does: 'forwarded',
    words: '0 to 1; not by Claude from 4.7 on, nor with `reasoning_effort`',
    find: (value, context) => findSampling('temperature', claudeOf(context.providerModel), value, context),
  },
  tool_choice: {
    does: 'translated',
    words: 'some models cannot be forced',
    find: (value, { providerModel }) => findForced(claudeOf(providerModel), value),
  },
  tools: {
    does: 'translated',
    words: '`strict` from Claude 4.1 on',
    find: (value, { providerModel }) =>
      findInTools(value, () => (claudeOf(providerModel)?.hasSchema === true ? undefined : PLAIN)),
  },
  top_p: {
    does: 'forwarded',
    words: 'as `temperature`, and not beside it',
    find: (value, context) => findSampling('top_p', claudeOf(context.providerModel), value, context),
  },
};
