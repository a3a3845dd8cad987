import { isJsonObject, parseJson } from '#kernel/json.ts';

/**
 * What an error of a compatible server says, in a form that `error-kind.ts` can look up. It decides what kind of failure it is, and
 * goes no further: the text may hold anything, so nobody is shown it (ER-03).
 */
export interface ErrorFacts {
  /** Its `code`, `type`, `status` and `reason`, wherever they stand, in lower case. */
  readonly codes: readonly string[];
  readonly message: string;
}

const NO_FACTS: ErrorFacts = { codes: [], message: '' };
const CODE_FIELDS = ['code', 'type', 'status', 'reason', 'error_type'];
const MESSAGE_FIELDS = ['message', 'detail', 'error'];
/** The most `details` that are looked at. Google's hold the reason. */
const DETAILS_MAX = 8;

/** The facts of the beginning of an error's body. It may be cut, and it may be anything: then there are none. */
export function factsOfText(text: string): ErrorFacts {
  const body = parseJson(text);
  // Google's compatible interface sends a list with one error.
  return factsOfError(Array.isArray(body) ? body[0] : body);
}

/** The facts of an error, as servers write it: in `error`, which may be a text, or at the top. */
export function factsOfError(body: unknown): ErrorFacts {
  if (!isJsonObject(body)) return NO_FACTS;
  const error = isJsonObject(body['error']) ? body['error'] : body;
  const details = Array.isArray(error['details']) ? error['details'].slice(0, DETAILS_MAX) : [];
  const codes = [body, error, ...details].flatMap((part) => (isJsonObject(part) ? codesOf(part) : []));
  const messages = MESSAGE_FIELDS.map((field) => error[field]).filter((value) => typeof value === 'string');
  return { codes, message: messages.join(' ').toLowerCase() };
}

function codesOf(part: Readonly<Record<string, unknown>>): readonly string[] {
  return CODE_FIELDS.map((field) => part[field])
    .filter((value) => typeof value === 'string' || typeof value === 'number')
    .map((value) => String(value).toLowerCase());
}
