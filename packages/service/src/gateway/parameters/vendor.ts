import {
  between,
  bool,
  firstFault,
  isBetween,
  structured,
  text,
  TOKENS_MAX,
  type ValueFault,
  type Values,
  whole,
} from '#gateway/parameters/values.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

const GRAMMAR_CHARACTERS_MAX = 65_536;
const CHOICES_MAX = 256;
const grammar = text(GRAMMAR_CHARACTERS_MAX);

/** A JSON schema, as an object or written as JSON. The provider judges its content. */
const schema = structured({ type: ['object', 'string'] }, (value, path) =>
  isJsonObject(value) || typeof value === 'string' ? undefined : { path, expects: 'a JSON schema' },
);

const choices = structured(
  { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: CHOICES_MAX },
  (value, path) => {
    const expects = `an array of 1 to ${CHOICES_MAX} strings`;
    if (!Array.isArray(value) || value.length === 0 || value.length > CHOICES_MAX) return { path, expects };
    return firstFault(value, path, (item, at) =>
      typeof item === 'string' ? undefined : { path: at, expects: 'a string' },
    );
  },
);

/** An object that has only these members, none of them needed. */
function membersOf(members: Readonly<Record<string, Values>>): Values {
  const properties = Object.fromEntries(Object.entries(members).map(([name, values]) => [name, values.schema]));
  const listed = Object.keys(members)
    .map((name) => `\`${name}\``)
    .join(', ');
  return structured({ type: 'object', properties, additionalProperties: false }, (value, path) => {
    if (!isJsonObject(value)) return { path, expects: `an object with any of ${listed}` };
    for (const [name, member] of Object.entries(value)) {
      const at = `${path}.${name}`;
      if (!Object.hasOwn(members, name)) return { path: at, expects: `absent: the members are ${listed}` };
      const fault = members[name]?.faultOf(member, at);
      if (fault !== undefined) return fault;
    }
    return undefined;
  });
}

const TEMPLATE_MEMBERS_MAX = 16;
const TEMPLATE_TEXT_MAX = 64;
const TEMPLATE_NAME = /^[a-z][a-z0-9_]{0,63}$/;
/**
 * What the server itself hands to its template, or decides by. A caller who names them could replace the template or the prompt, and
 * make of one message a prompt of any length.
 */
const TEMPLATE_OURS = [
  'add_generation_prompt',
  'chat_template',
  'continue_final_message',
  'conversation',
  'documents',
  'max_length',
  'messages',
  'padding',
  'return_dict',
  'return_tensors',
  'tokenize',
  'tokenizer',
  'tools',
  'truncation',
];

/** Switches of a chat template. Short values only, because a template may repeat them. */
const templateSwitches = structured(
  {
    type: 'object',
    maxProperties: TEMPLATE_MEMBERS_MAX,
    propertyNames: { pattern: TEMPLATE_NAME.source, not: { enum: TEMPLATE_OURS } },
    additionalProperties: {
      anyOf: [
        { type: 'boolean' },
        { type: 'number', minimum: -TOKENS_MAX, maximum: TOKENS_MAX },
        { type: 'string', maxLength: TEMPLATE_TEXT_MAX },
      ],
    },
  },
  (value, path) => {
    if (!isJsonObject(value) || Object.keys(value).length > TEMPLATE_MEMBERS_MAX) {
      return { path, expects: `an object of at most ${TEMPLATE_MEMBERS_MAX} switches` };
    }
    for (const [name, item] of Object.entries(value)) {
      const at = `${path}.${name}`;
      const isSwitch = TEMPLATE_NAME.test(name) && !TEMPLATE_OURS.includes(name);
      if (!isSwitch) return { path: at, expects: 'absent: the server decides it' };
      const isShort = typeof item === 'string' && item.length <= TEMPLATE_TEXT_MAX;
      if (typeof item === 'boolean' || isShort || isBetween(item, -TOKENS_MAX, TOKENS_MAX)) continue;
      return { path: at, expects: `true, false, a number or at most ${TEMPLATE_TEXT_MAX} characters` };
    }
    return undefined;
  },
);

const THINKING_TYPES = ['enabled', 'disabled', 'adaptive', 'auto'];

const thinking = structured(
  {
    type: 'object',
    properties: { type: { enum: THINKING_TYPES }, budget_tokens: whole(0, TOKENS_MAX).schema },
    required: ['type'],
    additionalProperties: false,
  },
  (value, path) => {
    if (!isJsonObject(value) || !THINKING_TYPES.some((type) => type === value['type'])) {
      return { path, expects: 'an object whose `type` is "enabled", "disabled", "adaptive" or "auto"' };
    }
    const { type: _type, budget_tokens: budget, ...others } = value;
    const [other] = Object.keys(others);
    if (other !== undefined) {
      return { path: `${path}.${other}`, expects: 'absent: the members are `type` and `budget_tokens`' };
    }
    return budget === undefined ? undefined : whole(0, TOKENS_MAX).faultOf(budget, `${path}.budget_tokens`);
  },
);

/**
 * Parameters of vendors that are not in the format, with the values that they take. A model takes one only if its catalogue entry
 * lists it. None makes a model generate more than its output limit, or a prompt longer than what is sent: names that do, such as
 * `best_of`, are not here and are refused.
 */
export const VENDOR_PARAMETERS: ReadonlyMap<string, Values> = new Map([
  ['chat_template_kwargs', templateSwitches],
  ['ebnf', grammar],
  ['enable_thinking', bool()],
  ['grammar', grammar],
  ['guided_choice', choices],
  ['guided_grammar', grammar],
  ['guided_json', schema],
  ['guided_regex', grammar],
  ['min_p', between(0, 1, 0)],
  ['regex', grammar],
  ['repetition_penalty', between(0, 10, 1)],
  [
    'structured_outputs',
    membersOf({
      choice: choices,
      disable_additional_properties: bool(),
      disable_any_whitespace: bool(),
      grammar,
      json: schema,
      json_object: bool(),
      regex: grammar,
    }),
  ],
  ['thinking', thinking],
  ['thinking_budget', whole(0, TOKENS_MAX)],
  ['top_a', between(0, 1, 0)],
  ['top_k', whole(-1, 1_000_000)],
  ['typical_p', between(0, 1, 1)],
]);

/** The first vendor parameter whose value is not accepted. `outputTokens`: the output limit of the call, which bounds its thoughts. */
export function findBadVendorValue(request: JsonObject, outputTokens: number): ValueFault | undefined {
  for (const name of Object.keys(request)) {
    const value = request[name];
    const fault = value === null ? undefined : VENDOR_PARAMETERS.get(name)?.faultOf(value, name);
    if (fault !== undefined) return fault;
  }
  const [path, budget] = budgetOf(request);
  if (budget < outputTokens) return undefined;
  return { path, expects: `below the output limit of the call, which is ${outputTokens} tokens` };
}

/** The tokens that a checked request lets the model think. An answer needs more than these. */
export function thinkingBudgetOf(request: JsonObject): number {
  return budgetOf(request)[1];
}

function budgetOf({ thinking: block, thinking_budget: budget }: JsonObject): readonly [path: string, tokens: number] {
  const nested = isJsonObject(block) ? block['budget_tokens'] : undefined;
  if (typeof nested === 'number') return ['thinking.budget_tokens', nested];
  return ['thinking_budget', typeof budget === 'number' ? budget : 0];
}
