import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

/** A part of a request that an upstream cannot be sent, because its format has no word for it. */
export interface Unsupported {
  /** Where it is, such as `n` or `messages[2].content[0]`. */
  readonly path: string;
  /** What to do instead, as a sentence. */
  readonly advice: string;
}

/**
 * What a kind of provider does with one parameter. `forwarded`: sent with the same value. `translated`: sent in the vendor's words.
 * `refused`: by name. `kept`: never sent to anybody.
 */
export interface Rule {
  readonly does: 'forwarded' | 'translated' | 'refused' | 'kept';
  /** The bounds and exceptions, for the documents. */
  readonly words?: string;
  /** The first part of the value that the upstream cannot be sent. Called only if the parameter is given and not null. */
  readonly find?: Find;
}

export type Find = (value: unknown, context: RuleContext) => Unsupported | undefined;

export interface RuleContext {
  readonly request: JsonObject;
  readonly providerModel: string;
}

/** Parameters that a provider may be sent. `docs/PARAMETERS.md` has those that stay with the gateway. */
const SENT_PARAMETERS = [
  'frequency_penalty',
  'logit_bias',
  'logprobs',
  'messages',
  'n',
  'parallel_tool_calls',
  'presence_penalty',
  'prompt_cache_key',
  'reasoning_effort',
  'response_format',
  'safety_identifier',
  'seed',
  'stop',
  'temperature',
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
  'verbosity',
] as const;

export type SentParameter = (typeof SENT_PARAMETERS)[number];

/** What a kind does with every parameter: one that is missing here does not compile. */
export type Capabilities = Readonly<Record<SentParameter, Rule>>;

/** The gateway acts on these itself, or they change nothing. */
const NEVER_SENT: ReadonlySet<string> = new Set([
  'max_completion_tokens',
  'max_tokens',
  'metadata',
  'modalities',
  'model',
  'prompt_cache_options',
  'prompt_cache_retention',
  'service_tier',
  'store',
  'stream',
  'stream_options',
  'user',
]);

/** The first part of a request that these capabilities do not cover. A parameter that they do not know is refused by name. */
export function findUncovered(capabilities: Capabilities, context: RuleContext): Unsupported | undefined {
  const { request } = context;
  for (const name of Object.keys(request)) {
    const value = request[name];
    if (value === null || value === undefined || NEVER_SENT.has(name)) continue;
    const rule = Object.hasOwn(capabilities, name) ? capabilities[name as SentParameter] : undefined;
    const found =
      rule === undefined ? { path: name, advice: LEAVE_OUT } : (rule.find?.(value, context) ?? strayOf(name, value));
    if (found !== undefined) return found;
  }
  return undefined;
}

export const LEAVE_OUT = 'Leave it out: its provider has no such parameter.';

const FORMAT_FIELDS: ReadonlySet<string> = new Set(['type', 'json_schema']);
const SCHEMA_FIELDS: ReadonlySet<string> = new Set(['name', 'description', 'schema', 'strict']);

/** The first field of a format for the answer that the compatible format does not have: no translation has a place for it. */
function strayOf(name: string, value: unknown): Unsupported | undefined {
  if (name !== 'response_format' || !isJsonObject(value)) return undefined;
  const { json_schema: schema } = value;
  return (
    strayIn(value, FORMAT_FIELDS, name) ??
    (isJsonObject(schema) ? strayIn(schema, SCHEMA_FIELDS, `${name}.json_schema`) : undefined)
  );
}

export function strayIn(holder: JsonObject, known: ReadonlySet<string>, path: string): Unsupported | undefined {
  const stray = Object.keys(holder).find((name) => !known.has(name) && holder[name] !== null);
  return stray === undefined ? undefined : { path: `${path}.${stray}`, advice: LEAVE_OUT };
}

/** A parameter without a counterpart. Only values that change nothing are taken. */
export function refused(
  name: SentParameter,
  neutral: (value: unknown) => boolean,
  words?: string,
  advice = LEAVE_OUT,
): Rule {
  const find: Find = (value) => (neutral(value) ? undefined : { path: name, advice });
  return { does: 'refused', ...(words === undefined ? {} : { words }), find };
}

export const never = (): boolean => false;
export const is =
  (...values: readonly unknown[]) =>
  (value: unknown): boolean =>
    values.includes(value);
const isEmptyObject = (value: unknown): boolean => isJsonObject(value) && Object.keys(value).length === 0;

/** The rows that are the same wherever a vendor has no word for them. */
export const WITHOUT_COUNTERPART = {
  logit_bias: refused('logit_bias', isEmptyObject, 'unless `{}`'),
  logprobs: refused('logprobs', is(false), 'unless false'),
  n: refused('n', is(1), 'unless 1', 'Make one call for each choice.'),
  top_logprobs: refused('top_logprobs', is(0), 'unless 0'),
  prompt_cache_key: { does: 'kept', words: 'a hint that changes no answer' },
} as const satisfies Partial<Capabilities>;
