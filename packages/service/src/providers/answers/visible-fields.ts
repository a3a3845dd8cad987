import type { JsonObject } from '#kernel/text/json.ts';

/** Everything that is in the field, as the provider sent it: only for what the model itself generates. */
export const WHOLE = 'whole';
/** A text, a number, a yes or no, a null, or a list of those. An object there is left out. */
export const VALUE = 'value';

/** What a caller gets of an object. The same holds for each object of a list. Other fields are left out. */
export interface Fields {
  readonly [name: string]: Fields | typeof WHOLE | typeof VALUE;
}

const FUNCTION: Fields = { name: VALUE, arguments: WHOLE };
const TOOL_CALL: Fields = {
  index: VALUE,
  id: VALUE,
  type: VALUE,
  function: FUNCTION,
  custom: { name: VALUE, input: VALUE },
  // Gemini refuses the next turn of a conversation without its signature.
  extra_content: { google: { thought_signature: VALUE } },
};
const ANNOTATION: Fields = {
  type: VALUE,
  url_citation: { start_index: VALUE, end_index: VALUE, url: VALUE, title: VALUE, content: VALUE },
  file_citation: { file_id: VALUE, filename: VALUE, index: VALUE },
};
const REASONING: Fields = {
  type: VALUE,
  index: VALUE,
  id: VALUE,
  format: VALUE,
  text: VALUE,
  summary: VALUE,
  data: VALUE,
  signature: VALUE,
};
/** Some providers send content in parts. */
const PART: Fields = { type: VALUE, text: VALUE, refusal: VALUE, thinking: { type: VALUE, text: VALUE } };
const MESSAGE: Fields = {
  role: VALUE,
  name: VALUE,
  content: PART,
  refusal: VALUE,
  tool_calls: TOOL_CALL,
  function_call: FUNCTION,
  annotations: ANNOTATION,
  audio: { id: VALUE, data: VALUE, expires_at: VALUE, transcript: VALUE },
  reasoning_content: VALUE,
  reasoning: VALUE,
  reasoning_details: REASONING,
  images: { type: VALUE, index: VALUE, image_url: { url: VALUE } },
};
const TOKEN: Fields = { token: VALUE, logprob: VALUE, bytes: VALUE };
const LISTED_TOKEN: Fields = { ...TOKEN, top_logprobs: TOKEN };
const CHOICE: Fields = {
  index: VALUE,
  message: MESSAGE,
  delta: MESSAGE,
  finish_reason: VALUE,
  logprobs: { content: LISTED_TOKEN, refusal: LISTED_TOKEN },
};
/**
 * The visible fields of an answer. `service_tier` is not here, because tiers differ in nothing but speed and what the
 * operator pays.
 */
const ANSWER: Fields = {
  id: VALUE,
  object: VALUE,
  created: VALUE,
  system_fingerprint: VALUE,
  obfuscation: VALUE,
  citations: VALUE,
  search_results: { title: VALUE, url: VALUE, date: VALUE, snippet: VALUE },
  // The gateway writes its own over these. They are here because an answer keeps the order of its fields.
  model: VALUE,
  choices: WHOLE,
  usage: {},
};
const USAGE: Fields = {
  prompt_tokens: VALUE,
  completion_tokens: VALUE,
  total_tokens: VALUE,
  prompt_tokens_details: {
    cached_tokens: VALUE,
    cache_write_tokens: VALUE,
    text_tokens: VALUE,
    image_tokens: VALUE,
    audio_tokens: VALUE,
    video_tokens: VALUE,
  },
  completion_tokens_details: {
    reasoning_tokens: VALUE,
    text_tokens: VALUE,
    image_tokens: VALUE,
    audio_tokens: VALUE,
    accepted_prediction_tokens: VALUE,
    rejected_prediction_tokens: VALUE,
  },
};

/**
 * What callers get of a provider's answer is these fields, and not what is left after removing some: providers add fields such
 * as `usage.cost` that show what the operator pays (CC-21). `docs/PARAMETERS.md` has the list.
 */
export const VISIBLE_FIELDS = { answer: ANSWER, choice: CHOICE, usage: USAGE } as const;

/** What a caller gets of an answer or chunk beside its choices and usage. */
export function visibleAnswer(answer: JsonObject): JsonObject {
  return visibleObject(answer, ANSWER);
}

/**
 * The same for an answer with these fields of ours. They take the places of the provider's own, and those that it has not follow
 * at the end. One pass, because taking out the provider's usage first would copy every answer.
 */
export function visibleAnswerWith(answer: JsonObject, ours: JsonObject): JsonObject {
  const seen: Record<string, unknown> = {};
  for (const name of Object.keys(answer)) {
    if (Object.hasOwn(ours, name)) seen[name] = ours[name];
    else if (Object.hasOwn(ANSWER, name)) {
      const visible = visibleOf(answer[name], ANSWER[name]);
      if (visible !== undefined) seen[name] = visible;
    }
  }
  return Object.assign(seen, ours);
}

/** What a caller gets of the choices of an answer or chunk. */
export function visibleChoices(choices: readonly JsonObject[]): readonly JsonObject[] {
  return visibleList(choices, CHOICE) as readonly JsonObject[];
}

/** What a caller gets of a usage report. */
export function visibleUsage(usage: JsonObject): JsonObject {
  return visibleObject(usage, USAGE);
}

/** The object itself if all of it is visible: nearly every chunk is, and a copy would cost more than the look. */
export function visibleObject(object: JsonObject, fields: Fields): JsonObject {
  const names = Object.keys(object);
  let copy: Record<string, unknown> | undefined;
  // Loops by index, here and below: with lists of tokens, a large answer has a million values, and an iterator doubles the time.
  for (let place = 0; place < names.length; place += 1) {
    const name = names[place] as string;
    const value = object[name];
    const seen = Object.hasOwn(fields, name) ? visibleOf(value, fields[name]) : undefined;
    if (seen !== value) copy ??= picked(object, names, place);
    if (copy !== undefined && seen !== undefined) copy[name] = seen;
  }
  return copy ?? object;
}

/** The first `count` of these members. */
function picked(object: JsonObject, names: readonly string[], count: number): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (let place = 0; place < count; place += 1) copy[names[place] as string] = object[names[place] as string];
  return copy;
}

/** Returns undefined if nothing of the value is visible. */
function visibleOf(value: unknown, field: Fields[string] = VALUE): unknown {
  if (field === WHOLE || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return visibleList(value, field);
  return field === VALUE ? undefined : visibleObject(value as JsonObject, field);
}

/** The list itself if all of it is visible. An item of which nothing is visible is left out. */
function visibleList(items: readonly unknown[], field: Fields[string]): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let place = 0; place < items.length; place += 1) {
    const item = items[place];
    const seen = visibleOf(item, field);
    if (seen !== item) copy ??= items.slice(0, place);
    if (copy !== undefined && seen !== undefined) copy.push(seen);
  }
  return copy ?? items;
}
