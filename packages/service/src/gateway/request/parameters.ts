import {
  between,
  bool,
  isOneOf,
  logitBias,
  metadata,
  neutral,
  oneOf,
  responseFormat,
  stop,
  streamOptions,
  text,
  type ValueFault,
  type Values,
  whole,
} from '#gateway/request/parameter-values.ts';
import { REFUSED_PARAMETERS } from '#gateway/request/refused-parameters.ts';
import { findChoiceFault, toolChoice, tools } from '#gateway/request/tools.ts';
import { isJsonObject, type JsonObject } from '#kernel/json.ts';

const TOKENS_MAX = 10_000_000;
const CHOICES_MAX = 128;
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/**
 * Every parameter of the compatible format that the gateway can price, with what it takes (`docs/PARAMETERS.md`). What
 * is not in this table is refused by name (CC-03). `model` and `messages` are checked on their own, before any of these.
 */
export const PARAMETERS: ReadonlyMap<string, Values> = new Map([
  ['frequency_penalty', between(-2, 2, 0)],
  ['logit_bias', logitBias],
  ['logprobs', bool(false)],
  ['max_completion_tokens', whole(1, TOKENS_MAX)],
  ['max_tokens', whole(1, TOKENS_MAX)],
  ['metadata', metadata],
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

/** Every parameter that the gateway knows. */
export const KNOWN_PARAMETERS: ReadonlySet<string> = new Set([...ALWAYS, ...PARAMETERS.keys()]);

/** Parameters that the gateway itself acts on, so that a model's own list never takes them away. */
const OURS = new Set([
  ...ALWAYS,
  'stream',
  'stream_options',
  'metadata',
  'user',
  'safety_identifier',
  'prompt_cache_key',
]);

/** Two names of one thing: the provider is told the limit by the name that it knows, whichever the caller used. */
const OUTPUT_LIMITS = ['max_tokens', 'max_completion_tokens'];

/** What a model with this list of its own takes; undefined: everything that the gateway knows. */
export function acceptedBy(parameters: ReadonlySet<string> | undefined): ReadonlySet<string> {
  if (parameters === undefined) return KNOWN_PARAMETERS;
  const isLimited = OUTPUT_LIMITS.some((name) => parameters.has(name));
  const isAccepted = (name: string) =>
    OURS.has(name) || parameters.has(name) || (isLimited && OUTPUT_LIMITS.includes(name));
  return new Set([...KNOWN_PARAMETERS].filter(isAccepted));
}

/** The first parameter of the request that is not accepted and says something. */
export function findUnaccepted(request: JsonObject, accepted: ReadonlySet<string>): string | undefined {
  return Object.keys(request).find((name) => !accepted.has(name) && !saysNothing(name, request));
}

/** True of a `null` and of a documented default: many clients send every field that they have. */
function saysNothing(name: string, request: JsonObject): boolean {
  const value = request[name];
  if (value === null) return KNOWN_PARAMETERS.has(name) || REFUSED_PARAMETERS.has(name);
  // Told to call no tool, or to choose, a model with tools does not do the same.
  if (name === 'tool_choice' && isGiven(request['tools'])) return value === 'auto';
  return isOneOf(value, PARAMETERS.get(name)?.defaults ?? []);
}

/** The first parameter whose value is not accepted, and where in it the fault lies. */
export function findBadValue(request: JsonObject): ValueFault | undefined {
  for (const name of Object.keys(request)) {
    const value = request[name];
    const fault = value === null ? undefined : PARAMETERS.get(name)?.faultOf(value, name);
    if (fault !== undefined) return fault;
  }
  return findConflict(request);
}

/** Values that are good, and not together. */
function findConflict(request: JsonObject): ValueFault | undefined {
  if (isJsonObject(request['stream_options']) && request['stream'] !== true) {
    return { path: 'stream_options', expects: 'absent without `"stream": true`' };
  }
  if (Number(request['top_logprobs'] ?? 0) > 0 && request['logprobs'] !== true) {
    return { path: 'top_logprobs', expects: 'absent without `"logprobs": true`' };
  }
  return findChoiceFault(request);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Said to us, not to the provider: who the end user is, the app's own bookkeeping, what holds anyway. */
const STAYS_HERE = new Set([
  'metadata',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'safety_identifier',
  'store',
  'user',
]);

/** What goes to the provider of a checked request: neither what stays here nor what its model does not take. */
export function passedOn(request: JsonObject, accepted: ReadonlySet<string>): JsonObject {
  const passed: Record<string, unknown> = {};
  for (const name of Object.keys(request)) {
    if (request[name] !== null && accepted.has(name) && !STAYS_HERE.has(name)) passed[name] = request[name];
  }
  return passed;
}

/** Decided by the gateway: the caller's value never passes. */
const DECIDED_HERE = new Set(['model', ...OUTPUT_LIMITS, 'stream', 'stream_options']);

/** What is passed on as it came. */
export function undecided(passed: JsonObject): JsonObject {
  const rest: Record<string, unknown> = {};
  for (const name of Object.keys(passed)) if (!DECIDED_HERE.has(name)) rest[name] = passed[name];
  return rest;
}
