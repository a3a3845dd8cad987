import { oneOf, structured, text, type ValueFault, type Values, whole } from '#gateway/parameters/values.ts';
import { firstFault } from '#gateway/parameters/values.ts';

const INPUTS_MAX = 2_048;
const DIMENSIONS_MAX = 65_536;
const TOKEN_MAX = 2 ** 31 - 1;

const TEXT = { type: 'string', minLength: 1 };
const TOKENS = { type: 'array', minItems: 1, items: { type: 'integer', minimum: 0, maximum: TOKEN_MAX } };
const WHAT = `a text, the numbers of its tokens, or a list of at most ${INPUTS_MAX} of either`;

const input = structured(
  {
    anyOf: [
      TEXT,
      TOKENS,
      { type: 'array', minItems: 1, maxItems: INPUTS_MAX, items: TEXT },
      { type: 'array', minItems: 1, maxItems: INPUTS_MAX, items: TOKENS },
    ],
  },
  inputFault,
);

function inputFault(value: unknown, path: string): ValueFault | undefined {
  if (typeof value === 'string') return textFault(value, path);
  if (!Array.isArray(value) || value.length === 0) return { path, expects: `${WHAT}, and not empty` };
  const [first]: readonly unknown[] = value;
  if (typeof first === 'number') return firstFault(value, path, tokenFault);
  if (value.length > INPUTS_MAX) return { path, expects: WHAT };
  return firstFault(value, path, typeof first === 'string' ? textFault : tokensFault);
}

function textFault(value: unknown, path: string): ValueFault | undefined {
  return typeof value === 'string' && value !== '' ? undefined : { path, expects: 'a text that is not empty' };
}

function tokensFault(value: unknown, path: string): ValueFault | undefined {
  const expects = 'a text, or the numbers of its tokens, and not empty';
  return Array.isArray(value) && value.length > 0 ? firstFault(value, path, tokenFault) : { path, expects };
}

function tokenFault(value: unknown, path: string): ValueFault | undefined {
  const isToken = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= TOKEN_MAX;
  return isToken ? undefined : { path, expects: 'the number of a token' };
}

/** What `POST /v1/embeddings` takes beside `model`, with the values that it takes (`docs/PARAMETERS.md`). */
export const PARAMETERS: ReadonlyMap<string, Values> = new Map([
  ['dimensions', whole(1, DIMENSIONS_MAX)],
  ['encoding_format', oneOf(['float', 'base64'], 'float')],
  ['input', input],
  ['user', text(256)],
]);
