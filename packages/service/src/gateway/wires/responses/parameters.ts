import {
  anything,
  between,
  bool,
  firstFault,
  neutral,
  oneOf,
  streamOptions,
  structured,
  text,
  TOKENS_MAX,
  type ValueFault,
  type Values,
  whole,
} from '#gateway/request/parameter-values.ts';
import { misshapen, shownOf } from '#gateway/request/parse-body.ts';
import { isJsonObject, type JsonObject } from '#kernel/json.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';

const LONG_TEXT_MAX = 64 * 1024 * 1024;
const PAIRS_MAX = 16;
const PAIR_NAME_MAX = 64;
const PAIR_VALUE_MAX = 512;

/** Pairs of short texts. They are said again in the answer, so they are kept for as long as a stream is open. */
const metadata = structured(
  {
    type: 'object',
    maxProperties: PAIRS_MAX,
    propertyNames: { maxLength: PAIR_NAME_MAX },
    additionalProperties: { type: 'string', maxLength: PAIR_VALUE_MAX },
  },
  (value, path) => {
    const expects = `an object of at most ${PAIRS_MAX} texts, with names of at most ${PAIR_NAME_MAX} characters`;
    if (!isJsonObject(value)) return { path, expects };
    const pairs = Object.entries(value);
    const hasLongName = pairs.some(([name]) => name.length > PAIR_NAME_MAX);
    if (pairs.length > PAIRS_MAX || hasLongName) return { path, expects };
    const bad = pairs.find(([, item]) => typeof item !== 'string' || item.length > PAIR_VALUE_MAX);
    return bad && { path: `${path}.${bad[0]}`, expects: `a string of at most ${PAIR_VALUE_MAX} characters` };
  },
);

/** An object that has only these members. None is needed, and a null says nothing. */
function membersOf(members: Readonly<Record<string, Values>>): Values {
  const listed = Object.keys(members)
    .map((name) => `\`${name}\``)
    .join(', ');
  const schemas = Object.entries(members).map(([name, { schema }]) => [name, { anyOf: [schema, { type: 'null' }] }]);
  return structured(
    { type: 'object', properties: Object.fromEntries(schemas), additionalProperties: false },
    (value, path) => {
      if (!isJsonObject(value)) return { path, expects: `an object with any of ${listed}` };
      for (const [name, member] of Object.entries(value)) {
        const at = `${path}.${name}`;
        const found = Object.hasOwn(members, name) ? members[name] : undefined;
        if (found === undefined) return { path: at, expects: `absent: the members are ${listed}` };
        const fault = member === null ? undefined : found.faultOf(member, at);
        if (fault !== undefined) return fault;
      }
      return undefined;
    },
  );
}

const SUMMARIES = oneOf(['auto', 'concise', 'detailed']);
const reasoning = membersOf({
  context: oneOf(['auto', 'current_turn', 'all_turns']),
  effort: anything, // As `reasoning_effort`.
  generate_summary: SUMMARIES,
  mode: neutral('standard'),
  summary: SUMMARIES,
});

const textSettings = membersOf({ format: anything, verbosity: anything }); // As `response_format` and `verbosity`.

export const ENCRYPTED_REASONING = 'reasoning.encrypted_content';
export const LOGPROBS = 'message.output_text.logprobs';

/** The others are about tools that run at a vendor, or repeat what the caller has sent. */
const INCLUDABLE = [
  'code_interpreter_call.outputs',
  'computer_call_output.output.image_url',
  'file_search_call.results',
  'message.input_image.image_url',
  LOGPROBS,
  ENCRYPTED_REASONING,
  'web_search_call.action.sources',
  'web_search_call.results',
];
const INCLUDED_MAX = 32;

const include = structured({ type: 'array', items: { enum: INCLUDABLE }, maxItems: INCLUDED_MAX }, (value, path) => {
  const words = INCLUDABLE.map((word) => `"${word}"`).join(', ');
  if (!Array.isArray(value) || value.length > INCLUDED_MAX) return { path, expects: `a short array of ${words}` };
  return firstFault(value, path, (item, at) =>
    INCLUDABLE.some((word) => word === item) ? undefined : { path: at, expects: `one of ${words}` },
  );
});

/**
 * Every parameter of the Responses interface that the gateway can price, with the values that it takes here (`docs/PARAMETERS.md`). What
 * has a counterpart in chat completions is read into it and checked there, so `anything` stands for it. `model`, `input`, `tools` and
 * `tool_choice` are checked where they are read.
 */
export const PARAMETERS: ReadonlyMap<string, Values> = new Map([
  ['background', neutral(false)],
  ['client_metadata', anything],
  ['include', include],
  ['instructions', text(LONG_TEXT_MAX)],
  ['max_output_tokens', whole(1, TOKENS_MAX)],
  ['max_tool_calls', whole(1, 1_000)],
  ['metadata', metadata],
  ['parallel_tool_calls', bool(true)],
  ['prompt_cache_key', text(256)],
  ['prompt_cache_options', anything],
  ['prompt_cache_retention', anything],
  ['reasoning', reasoning],
  ['safety_identifier', text(256)],
  ['service_tier', anything],
  ['store', neutral(false)],
  ['stream', bool(false)],
  ['stream_options', streamOptions],
  ['temperature', between(0, 2, 1)],
  ['text', textSettings],
  ['tool_choice', anything],
  ['tools', anything],
  ['top_logprobs', whole(0, 20, 0)],
  ['top_p', between(0, 1, 1)],
  ['truncation', neutral('disabled')],
  ['user', text(256)],
]);

const KNOWN: ReadonlySet<string> = new Set(['model', 'input', ...PARAMETERS.keys()]);

const WHOLE_CONVERSATION = 'Nothing is kept here: send the whole conversation in `input`.';

/** Parameters of the interface that are refused whatever they say, and values that are, each with what to do instead. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['background', 'Answers are not kept here to be fetched later: leave it out, and read a stream.'],
  ['context_management', 'Nothing is compacted here: shorten `input` yourself.'],
  ['conversation', WHOLE_CONVERSATION],
  ['moderation', 'It has no price here: moderate with a call of your own.'],
  ['previous_response_id', WHOLE_CONVERSATION],
  ['prompt', 'Templates are not kept here: send their text in `instructions` and `input`.'],
  ['store', 'Answers are not stored here: say `false`, or leave it out.'],
  [
    'truncation',
    'Nothing is cut out of a conversation here: say "disabled", or leave it out, and shorten `input` yourself.',
  ],
]);

const OF_CHAT = 'It is a parameter of `POST /v1/chat/completions`.';

/** Names of chat completions, each with what to use here. */
const FOREIGN: ReadonlyMap<string, string> = new Map([
  ['frequency_penalty', OF_CHAT],
  ['functions', 'Use `tools`.'],
  ['logprobs', `Use \`include\` with "${LOGPROBS}".`],
  ['max_completion_tokens', 'Use `max_output_tokens`.'],
  ['max_tokens', 'Use `max_output_tokens`.'],
  ['messages', 'This endpoint takes `input`: choose the Responses interface of your client.'],
  ['n', 'A call has one answer here.'],
  ['presence_penalty', OF_CHAT],
  ['reasoning_effort', 'Use `reasoning.effort`.'],
  ['response_format', 'Use `text.format`.'],
  ['seed', OF_CHAT],
  ['stop', OF_CHAT],
  ['verbosity', 'Use `text.verbosity`.'],
]);

/** Finds the first parameter of a body that is unknown, is refused by its name, or has a value that is not taken. */
export function findBadParameter(body: JsonObject): Refusal<'BAD_REQUEST'> | undefined {
  for (const name of Object.keys(body)) {
    const value = body[name];
    if (value === null) continue; // It says nothing.
    const fault = KNOWN.has(name) ? PARAMETERS.get(name)?.faultOf(value, name) : UNKNOWN;
    if (fault === undefined) continue;
    const refused = REFUSED.get(name);
    if (refused !== undefined) return refuse('BAD_REQUEST', `\`${name}\` is not taken. ${refused}`, { param: name });
    return fault === UNKNOWN ? unknown(name) : misshapen(fault);
  }
  return undefined;
}

const UNKNOWN: ValueFault = { path: '', expects: '' };

function unknown(name: string): Refusal<'BAD_REQUEST'> {
  const advice = FOREIGN.get(name);
  const hint = advice === undefined ? '' : ` ${advice}`;
  const list = [...KNOWN].map((one) => `\`${one}\``).join(', ');
  return refuse('BAD_REQUEST', `\`${shownOf(name)}\` is not a supported parameter.${hint} Supported: ${list}.`, {
    param: shownOf(name),
  });
}
