import { isJsonObject, type JsonObject } from '#kernel/json.ts';

/**
 * Every parameter of the compatible format that the gateway can price, with what it accepts. A value that is `null`
 * counts as absent. What is not in this table is refused by name (CC-03).
 */
interface Parameter {
  /** For the message: "`name` must be ...". */
  readonly expects: string;
  readonly accepts: (value: unknown) => boolean;
}

const TOKENS_MAX = 10_000_000;
const CHOICES_MAX = 128;

const bool: Parameter = { expects: 'true or false', accepts: (value) => typeof value === 'boolean' };

function text(lengthMax: number): Parameter {
  return {
    expects: `a string of at most ${lengthMax} characters`,
    accepts: (value) => typeof value === 'string' && value.length <= lengthMax,
  };
}

function whole(least: number, most: number): Parameter {
  return {
    expects: `a whole number from ${least} to ${most}`,
    accepts: (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
  };
}

function between(least: number, most: number): Parameter {
  return {
    expects: `a number from ${least} to ${most}`,
    accepts: (value) => typeof value === 'number' && value >= least && value <= most,
  };
}

function oneOf(...choices: readonly string[]): Parameter {
  return {
    expects: `one of ${choices.map((choice) => `"${choice}"`).join(', ')}`,
    accepts: (value) => typeof value === 'string' && choices.includes(value),
  };
}

const stop: Parameter = {
  expects: 'a string, or an array of 1 to 4 strings',
  accepts: (value) =>
    typeof value === 'string' ||
    (Array.isArray(value) && value.length >= 1 && value.length <= 4 && value.every((item) => typeof item === 'string')),
};

const logitBias: Parameter = {
  expects: 'an object of token ids with numbers from -100 to 100',
  accepts: (value) => isJsonObject(value) && Object.values(value).every(between(-100, 100).accepts),
};

const tools: Parameter = {
  expects: 'an array of tools of type "function", each with a `function` that has a `name`',
  accepts: (value) => Array.isArray(value) && value.length > 0 && value.every(isFunctionTool),
};

function isFunctionTool(tool: unknown): boolean {
  return isJsonObject(tool) && tool['type'] === 'function' && isNamed(tool['function']);
}

function isNamed(value: unknown): boolean {
  return isJsonObject(value) && typeof value['name'] === 'string' && value['name'].length > 0;
}

const toolChoice: Parameter = {
  expects: '"none", "auto", "required", a named function, or `allowed_tools`',
  accepts: (value) =>
    value === 'none' ||
    value === 'auto' ||
    value === 'required' ||
    (isJsonObject(value) &&
      ((value['type'] === 'function' && isNamed(value['function'])) ||
        (value['type'] === 'allowed_tools' && isJsonObject(value['allowed_tools'])))),
};

const responseFormat: Parameter = {
  expects: 'an object whose `type` is "text", "json_object" or "json_schema" (with `json_schema.name`)',
  accepts: (value) =>
    isJsonObject(value) &&
    (value['type'] === 'text' ||
      value['type'] === 'json_object' ||
      (value['type'] === 'json_schema' && isNamed(value['json_schema']))),
};

const streamOptions: Parameter = {
  expects: 'an object with `include_usage` and `include_obfuscation`, each true or false',
  accepts: (value) =>
    isJsonObject(value) &&
    Object.entries(value).every(
      ([name, option]) => (name === 'include_usage' || name === 'include_obfuscation') && typeof option === 'boolean',
    ),
};

const metadata: Parameter = {
  expects: 'an object of at most 16 strings',
  accepts: (value) =>
    isJsonObject(value) &&
    Object.keys(value).length <= 16 &&
    Object.values(value).every((item) => typeof item === 'string'),
};

/** Passed only with the value that changes nothing: the others cost extra or keep data, and have no price here. */
function neutral(...values: readonly unknown[]): Parameter {
  const shown = values.map((value) => JSON.stringify(value)).join(' or ');
  return { expects: shown, accepts: (value) => values.some((one) => JSON.stringify(one) === JSON.stringify(value)) };
}

/** `model` and `messages` are checked on their own, before any of these. */
const PARAMETERS: ReadonlyMap<string, Parameter> = new Map([
  ['frequency_penalty', between(-2, 2)],
  ['logit_bias', logitBias],
  ['logprobs', bool],
  ['max_completion_tokens', whole(1, TOKENS_MAX)],
  ['max_tokens', whole(1, TOKENS_MAX)],
  ['metadata', metadata],
  ['modalities', neutral(['text'])],
  ['n', whole(1, CHOICES_MAX)],
  ['parallel_tool_calls', bool],
  ['presence_penalty', between(-2, 2)],
  ['prompt_cache_key', text(256)],
  ['reasoning_effort', oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')],
  ['response_format', responseFormat],
  ['safety_identifier', text(256)],
  ['seed', whole(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)],
  ['service_tier', neutral('auto', 'default')],
  ['stop', stop],
  ['store', neutral(false)],
  ['stream', bool],
  ['stream_options', streamOptions],
  ['temperature', between(0, 2)],
  ['tool_choice', toolChoice],
  ['tools', tools],
  ['top_logprobs', whole(0, 20)],
  ['top_p', between(0, 1)],
  ['user', text(256)],
  ['verbosity', oneOf('low', 'medium', 'high')],
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

/** What a model with this list of its own takes; undefined: everything that the gateway knows. */
export function acceptedBy(parameters: ReadonlySet<string> | undefined): ReadonlySet<string> {
  if (parameters === undefined) return KNOWN_PARAMETERS;
  return new Set([...KNOWN_PARAMETERS].filter((name) => OURS.has(name) || parameters.has(name)));
}

/** The first parameter of the request that is not accepted; those known, and absent by a `null`, are passed over. */
export function findUnaccepted(request: JsonObject, accepted: ReadonlySet<string>): string | undefined {
  return Object.keys(request).find(
    (name) => !accepted.has(name) && !(request[name] === null && KNOWN_PARAMETERS.has(name)),
  );
}

/** The first parameter whose value is not accepted, with what it must be. */
export function findBadValue(request: JsonObject): { readonly name: string; readonly expects: string } | undefined {
  for (const [name, value] of Object.entries(request)) {
    const parameter = PARAMETERS.get(name);
    if (parameter === undefined || value === null || parameter.accepts(value)) continue;
    return { name, expects: parameter.expects };
  }
  return undefined;
}
