import { isJsonObject, type JsonObject, parseJson } from '#kernel/text/json.ts';

/**
 * What an error of a compatible server says, in a form that `kind.ts` can look up. It decides what kind of failure it is, and
 * goes no further: the text may hold anything, so nobody is shown it (ER-03).
 */
export interface ErrorFacts {
  /** Its `code`, `type`, `status` and `reason`, wherever they stand, in lower case. */
  readonly codes: readonly string[];
  readonly message: string;
}

const NO_FACTS: ErrorFacts = { codes: [], message: '' };
const CODE_FIELDS = ['code', 'type', 'status', 'reason', 'error_type', 'error_code', 'status_code'];
const MESSAGE_FIELDS = ['message', 'detail', 'error', 'status_msg'];
/** Where MiniMax says how a call went: `status_code` is 0 in every answer that is none of an error. */
const OUTCOME = 'base_resp';
/** The most `details` that are looked at. Google's hold the reason. */
const DETAILS_MAX = 8;

/** The facts of the beginning of an error's body. It may be cut, and it may be anything: then there are none. */
export function factsOfText(text: string): ErrorFacts {
  const body = parseJson(text);
  // Google's compatible interface sends a list with one error.
  return factsOfError(Array.isArray(body) ? body[0] : body);
}

/** The facts of an error, as servers write it: in `error`, which may be a text, in `base_resp`, or at the top. */
export function factsOfError(body: unknown): ErrorFacts {
  if (!isJsonObject(body)) return NO_FACTS;
  const outcome = outcomeOf(body);
  if (outcome !== undefined) return { codes: [`${OUTCOME} ${outcome.code}`], message: messageIn(outcome.details) };
  const error = isJsonObject(body['error']) ? body['error'] : body;
  const details = Array.isArray(error['details']) ? error['details'].slice(0, DETAILS_MAX) : [];
  const codes = [body, error, ...details].flatMap((part) => (isJsonObject(part) ? codesOf(part) : []));
  return { codes, message: messageIn(error) };
}

/**
 * Whether JSON that came with status 200, in the place of an answer or a chunk, is an error: what has no choices, and says what went
 * wrong in any of the ways of servers.
 */
export function isErrorBody(body: unknown): boolean {
  const found: unknown = Array.isArray(body) ? body[0] : body;
  if (!isJsonObject(found)) return false;
  const { error, choices } = found;
  if ((isJsonObject(error) && hasError(found)) || outcomeOf(found) !== undefined) return true;
  if (Array.isArray(choices)) return false;
  if (typeof error === 'string' && error !== '') return true;
  if (found['object'] === 'error' || found['type'] === 'error') return true;
  // Some servers write `"message": "success"` into every chunk, and that of the usage has no choices.
  const words = isJsonObject(found['usage']) ? [] : [found['code'], found['message'], found['detail']];
  return words.some((value) => typeof value === 'string' && value !== '');
}

/** Whether an object has an `error` with anything in it. Some servers send an empty one with each answer. */
export function hasError({ error }: JsonObject): boolean {
  const isEmpty = isJsonObject(error) && Object.keys(error).length === 0;
  return error !== undefined && error !== null && error !== '' && error !== false && !isEmpty;
}

/** The code of MiniMax's outcome, unless the call went well. */
function outcomeOf(body: JsonObject): { readonly code: number; readonly details: JsonObject } | undefined {
  const details = body[OUTCOME];
  const code = isJsonObject(details) ? Number(details['status_code'] ?? 0) : 0;
  return isJsonObject(details) && Number.isInteger(code) && code !== 0 ? { code, details } : undefined;
}

function messageIn(error: JsonObject): string {
  const messages = MESSAGE_FIELDS.map((field) => error[field]).filter((value) => typeof value === 'string');
  return messages.join(' ').toLowerCase();
}

function codesOf(part: Readonly<Record<string, unknown>>): readonly string[] {
  return CODE_FIELDS.map((field) => part[field])
    .filter((value) => typeof value === 'string' || typeof value === 'number')
    .map((value) => String(value).toLowerCase());
}
