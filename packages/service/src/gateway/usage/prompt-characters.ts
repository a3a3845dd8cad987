import type { JsonObject } from '#kernel/text/json.ts';

/** The fields that a provider makes the prompt of. */
const PROMPT_FIELDS = ['messages', 'tools', 'response_format'];
/** A number or a word such as `true` is about one token, and a token is counted for every four characters. */
const SCALAR_CHARACTERS = 4;

/**
 * The UTF-16 code units of all names and texts in the prompt of a request, without the signs of JSON. With names, because providers
 * write roles, tools and schemas into the prompt, and a message costs some tokens of its own. Only adds up lengths: it is worked out for
 * each call, because a stream keeps nothing of its request.
 */
export function promptCharactersOf(request: JsonObject): number {
  let characters = 0;
  for (const name of PROMPT_FIELDS) characters += charactersIn(request[name]);
  return characters;
}

/** Recurses as deep as a body may be nested. Plain loops, because a body may have very many members. */
function charactersIn(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) {
    return value === undefined || value === null ? 0 : SCALAR_CHARACTERS;
  }
  let characters = 0;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) characters += charactersIn(value[index]);
    return characters;
  }
  for (const name of Object.keys(value)) characters += name.length + charactersIn((value as JsonObject)[name]);
  return characters;
}
