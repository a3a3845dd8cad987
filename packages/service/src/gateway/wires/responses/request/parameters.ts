import {
  anything,
  BOOLEAN_OR_NULL,
  firstFault,
  NAME_SCHEMA,
  neutral,
  OBJECT_OR_NULL,
  oneOf,
  structured,
  text,
  type Values,
  whole,
} from '#gateway/parameters/values.ts';
import { PARAMETERS as OF_CHAT } from '#gateway/parameters/parameters.ts';
import { createParameterCheck } from '#gateway/request/parameter-check.ts';
import { isJsonObject } from '#kernel/text/json.ts';

/** No body is longer. */
const INSTRUCTIONS_MAX = 64 * 1024 * 1024;
const TOOL_CALLS_MAX = 1_000;
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

/** The values that a parameter of chat completions takes. */
function like(name: string): Values {
  const values = OF_CHAT.get(name);
  if (values === undefined) throw new Error(`Chat completions have no parameter ${name}.`);
  return values;
}

const SUMMARIES = oneOf(['auto', 'concise', 'detailed']);
const reasoning = membersOf({
  context: oneOf(['auto', 'current_turn', 'all_turns']),
  effort: like('reasoning_effort'),
  generate_summary: SUMMARIES,
  mode: neutral('standard'),
  summary: SUMMARIES,
});

const FORMAT_SCHEMA = {
  anyOf: [
    { type: 'object', properties: { type: { enum: ['text', 'json_object'] } }, required: ['type'] },
    {
      type: 'object',
      properties: {
        type: { const: 'json_schema' },
        name: NAME_SCHEMA,
        schema: OBJECT_OR_NULL,
        strict: BOOLEAN_OR_NULL,
      },
      required: ['type', 'name'],
    },
  ],
};

/** The form of an answer, as `response_format` has it. */
const format = structured(FORMAT_SCHEMA, (value, path) => {
  const fault = like('response_format').faultOf(responseFormatOf(value), path);
  return fault && { ...fault, path: fault.path.replace('.json_schema', '') };
});

/** `text.format` has in one object what `response_format` has in two. */
export function responseFormatOf(value: unknown): unknown {
  if (!isJsonObject(value) || value['type'] !== 'json_schema') return value;
  const { type, ...described } = value;
  return { type, json_schema: described };
}

const textSettings = membersOf({ format, verbosity: like('verbosity') });

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
 * Every parameter of the Responses interface that the gateway can price, with the values that it takes here (`docs/PARAMETERS.md`).
 * `model`, `input`, `tools` and `tool_choice` are checked where they are read.
 */
export const PARAMETERS: ReadonlyMap<string, Values> = new Map([
  ['background', neutral(false)],
  ['client_metadata', anything],
  ['include', include],
  ['instructions', text(INSTRUCTIONS_MAX)],
  ['max_output_tokens', like('max_completion_tokens')],
  ['max_tool_calls', whole(1, TOOL_CALLS_MAX)],
  ['metadata', metadata],
  ['parallel_tool_calls', like('parallel_tool_calls')],
  ['prompt_cache_key', like('prompt_cache_key')],
  ['prompt_cache_options', like('prompt_cache_options')],
  ['prompt_cache_retention', like('prompt_cache_retention')],
  ['reasoning', reasoning],
  ['safety_identifier', like('safety_identifier')],
  ['service_tier', like('service_tier')],
  ['store', like('store')],
  ['stream', like('stream')],
  ['stream_options', like('stream_options')],
  ['temperature', like('temperature')],
  ['text', textSettings],
  ['tool_choice', anything],
  ['tools', anything],
  ['top_logprobs', like('top_logprobs')],
  ['top_p', like('top_p')],
  ['truncation', neutral('disabled')],
  ['user', like('user')],
]);

const WHOLE_CONVERSATION = 'Nothing is kept here: send the whole conversation in `input`.';

/** Parameters of the interface that are refused with any value, and values that are, each with what to do instead. */
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

const ONLY_CHAT = 'It is a parameter of `POST /v1/chat/completions`.';

/** Names of chat completions, each with what to use here. */
const FOREIGN: ReadonlyMap<string, string> = new Map([
  ['frequency_penalty', ONLY_CHAT],
  ['functions', 'Use `tools`.'],
  ['logprobs', `Use \`include\` with "${LOGPROBS}".`],
  ['max_completion_tokens', 'Use `max_output_tokens`.'],
  ['max_tokens', 'Use `max_output_tokens`.'],
  ['messages', 'This endpoint takes `input`: choose the Responses interface of your client.'],
  ['n', 'A call has one answer here.'],
  ['presence_penalty', ONLY_CHAT],
  ['reasoning_effort', 'Use `reasoning.effort`.'],
  ['response_format', 'Use `text.format`.'],
  ['seed', ONLY_CHAT],
  ['stop', ONLY_CHAT],
  ['verbosity', 'Use `text.verbosity`.'],
]);

/** Finds the first parameter of a body that is unknown, is refused by its name, or has a value that is not taken. */
export const findBadParameter = createParameterCheck({
  readApart: ['model', 'input'],
  values: PARAMETERS,
  refused: REFUSED,
  foreign: FOREIGN,
});
