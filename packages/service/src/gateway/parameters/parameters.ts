import type { Asked } from '#gateway/call/call.ts';
import {
  anything,
  between,
  bool,
  isOneOf,
  logitBias,
  neutral,
  oneOf,
  responseFormat,
  stop,
  streamOptions,
  text,
  TOKENS_MAX,
  type ValueFault,
  type Values,
  whole,
} from '#gateway/parameters/values.ts';
import { REFUSED_PARAMETERS } from '#gateway/parameters/refused.ts';
import { findChoiceFault, toolChoice, tools } from '#gateway/parameters/tools.ts';
import { VENDOR_PARAMETERS } from '#gateway/parameters/vendor.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

const CHOICES_MAX = 128;
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/**
 * Every parameter of the compatible format that the gateway can price, with the values it takes (`docs/PARAMETERS.md`). A
 * parameter that is not in this table is refused by name, because we could not bound what it costs (CC-03). `model` and
 * `messages` are checked on their own, before these.
 */
export const PARAMETERS: ReadonlyMap<string, Values> = new Map([
  ['frequency_penalty', between(-2, 2, 0)],
  ['logit_bias', logitBias],
  ['logprobs', bool(false)],
  ['max_completion_tokens', whole(1, TOKENS_MAX)],
  ['max_tokens', whole(1, TOKENS_MAX)],
  ['metadata', anything],
  ['modalities', neutral(['text'])],
  ['n', whole(1, CHOICES_MAX, 1)],
  ['parallel_tool_calls', bool(true)],
  ['presence_penalty', between(-2, 2, 0)],
  ['prompt_cache_key', text(256)],
  ['prompt_cache_options', neutral({}, { mode: 'implicit' }, { ttl: '30m' }, { mode: 'implicit', ttl: '30m' })],
  ['prompt_cache_retention', neutral('in_memory')],
  ['reasoning_effort', oneOf(EFFORTS, 'medium')],
  ['response_format', responseFormat],
  ['safety_identifier', text(256)],
  ['seed', whole(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)],
  ['service_tier', neutral('auto', 'default')],
  ['stop', stop],
  ['store', neutral(false)],
  ['stream', bool(false)],
  ['stream_options', streamOptions],
  ['temperature', between(0, 2, 1)],
  ['tool_choice', { ...toolChoice, defaults: ['none', 'auto'] }], // Which of them depends on whether there are tools.
  ['tools', tools],
  ['top_logprobs', whole(0, 20, 0)],
  ['top_p', between(0, 1, 1)],
  ['user', text(256)],
  ['verbosity', oneOf(['low', 'medium', 'high'], 'medium')],
]);

const ALWAYS = ['model', 'messages'];

/** Every parameter of the format that the gateway knows. */
export const KNOWN_PARAMETERS: ReadonlySet<string> = new Set([...ALWAYS, ...PARAMETERS.keys()]);

/** All parameters, those of vendors too. A model takes one of them only if its catalogue entry lists it. */
export const NAMED_PARAMETERS: ReadonlySet<string> = new Set([...KNOWN_PARAMETERS, ...VENDOR_PARAMETERS.keys()]);

/**
 * In the list of a model, this stands for every parameter of the format, so that the list need only add those of its
 * vendor.
 */
export const ALL_OF_THE_FORMAT = '*';

/** Two names of one limit. The caller may use either. The provider is sent the one that it knows. */
const OUTPUT_LIMITS = ['max_tokens', 'max_completion_tokens'];

/** Parameters that the gateway itself acts on. A model's own list cannot take them away. */
const OURS = new Set([
  ...ALWAYS,
  'stream',
  'stream_options',
  'metadata',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  ...OUTPUT_LIMITS,
]);

/**
 * The accepted parameters by a model's own list. They are made once for each list, because every call of the model
 * needs them twice.
 */
const acceptedByList = new WeakMap<ReadonlySet<string>, ReadonlySet<string>>();

/** The parameters of a model with a list of its own. Undefined means all that the gateway knows. */
export function acceptedBy(list: ReadonlySet<string> | undefined): ReadonlySet<string> {
  if (list === undefined) return KNOWN_PARAMETERS;
  const known = acceptedByList.get(list);
  if (known !== undefined) return known;
  const isAccepted = (name: string): boolean =>
    OURS.has(name) || list.has(name) || (list.has(ALL_OF_THE_FORMAT) && KNOWN_PARAMETERS.has(name));
  const accepted = new Set([...NAMED_PARAMETERS].filter(isAccepted));
  acceptedByList.set(list, accepted);
  return accepted;
}

/** The first parameter that is not accepted. One that says nothing is passed over. */
export function findUnaccepted(request: JsonObject, accepted: ReadonlySet<string>): string | undefined {
  for (const name of Object.keys(request)) if (!accepted.has(name) && !saysNothing(name, request)) return name;
  return undefined;
}

/** Returns true for a `null` and for a documented default, because many clients send every field that they have. */
function saysNothing(name: string, request: JsonObject): boolean {
  const value = request[name];
  if (value === null) return NAMED_PARAMETERS.has(name) || REFUSED_PARAMETERS.has(name);
  if (isEmpty(name, value)) return true;
  // With tools in the request, neither value is a default that says nothing: they make the model act differently.
  if (name === 'tool_choice' && hasTools(request)) return value === 'auto';
  return isOneOf(value, (PARAMETERS.get(name) ?? VENDOR_PARAMETERS.get(name))?.defaults ?? []);
}

/**
 * The name of the first parameter that the gateway does not know, or else the first value that is not accepted, with the place of the
 * fault in it. One walk over the parameters.
 */
export function findMisuse(request: JsonObject): string | ValueFault | undefined {
  let bad: ValueFault | undefined;
  for (const name of Object.keys(request)) {
    if (!NAMED_PARAMETERS.has(name) && !saysNothing(name, request)) return name;
    const value = request[name];
    if (bad === undefined && value !== null) bad = PARAMETERS.get(name)?.faultOf(value, name);
  }
  return bad ?? findConflict(request);
}

/** Values that are right on their own, but not together. */
function findConflict(request: JsonObject): ValueFault | undefined {
  if (isJsonObject(request['stream_options']) && request['stream'] !== true) {
    return { path: 'stream_options', expects: 'absent without `"stream": true`' };
  }
  if (Number(request['top_logprobs'] ?? 0) > 0 && request['logprobs'] !== true) {
    return { path: 'top_logprobs', expects: 'absent without `"logprobs": true`' };
  }
  return (request['tool_choice'] ?? 'none') === 'none' ? undefined : findChoiceFault(request);
}

/** Lists that clients send empty and that say nothing then. Providers refuse them. */
const LISTS = new Set(['tools', 'stop']);

function isEmpty(name: string, value: unknown): boolean {
  return LISTS.has(name) && Array.isArray(value) && value.length === 0;
}

function hasTools({ tools: listed }: JsonObject): boolean {
  return listed !== undefined && listed !== null && !isEmpty('tools', listed);
}

/** Parameters that providers refuse in a request without tools. */
const OF_TOOLS = new Set(['tool_choice', 'parallel_tool_calls']);

/** A checked request without the lists that say nothing: the same object if it has none. */
export function withoutEmptyLists(request: JsonObject): JsonObject {
  if (!isEmpty('tools', request['tools']) && !isEmpty('stop', request['stop'])) return request;
  const isToolless = isEmpty('tools', request['tools']);
  const given = Object.entries(request).filter(
    ([name, value]) => !isEmpty(name, value) && !(isToolless && OF_TOOLS.has(name)),
  );
  return Object.fromEntries(given);
}

/**
 * These parameters are meant for us, so the provider never gets them: who the end user is, the app's own bookkeeping,
 * and defaults.
 */
const STAYS_HERE = new Set([
  'metadata',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'safety_identifier',
  'store',
  'user',
]);

/** The gateway decides these parameters. The caller's value never gets through. */
const DECIDED_HERE = new Set(['model', ...OUTPUT_LIMITS, 'stream', 'stream_options']);

/**
 * What the provider is asked, from a checked request: the fields that it takes, without those that stay here, and with `ours` in
 * place of the caller's. As an object, and as JSON without what the gateway decides.
 */
export function passOn(request: JsonObject, accepted: ReadonlySet<string>, { ours, native }: PassedBeside): Asked {
  const passed: Record<string, unknown> = {};
  const undecided: Record<string, unknown> = {};
  for (const name of Object.keys(request)) {
    if (request[name] === null || !accepted.has(name) || STAYS_HERE.has(name)) continue;
    passed[name] = request[name];
    if (!DECIDED_HERE.has(name)) undecided[name] = request[name];
  }
  Object.assign(passed, ours);
  return { request: passed, requestText: JSON.stringify(Object.assign(undecided, ours)), native };
}

interface PassedBeside {
  readonly ours: JsonObject;
  /** The caller's own form. */
  readonly native?: Asked['native'];
}
