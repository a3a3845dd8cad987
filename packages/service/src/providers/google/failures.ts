import type { ErrorResponse } from '@purser/upstream-http/client.ts';
import { isJsonObject, type JsonObject, parseJson } from '#kernel/text/json.ts';
import { errorOfResponse } from '#providers/errors/errors.ts';
import type { ErrorKind } from '#providers/errors/kind.ts';
import type { UpstreamError } from '#providers/port/provider.ts';
import type { VendorFailure } from '#providers/dialect/dialect.ts';

/** The codes are Google's canonical ones, and two words that say more than their code does. */
const KINDS: Readonly<Record<string, ErrorKind>> = {
  TOO_LONG: 'too-long',
  // The Gemini API answers a wrong key with 400 INVALID_ARGUMENT.
  API_KEY_INVALID: 'unauthorized',
  UNAUTHENTICATED: 'unauthorized',
  PERMISSION_DENIED: 'unauthorized',
  // Our account: it has no billing, or is used from a country that Google does not serve.
  FAILED_PRECONDITION: 'unauthorized',
  // There is no such model, or none for our project.
  NOT_FOUND: 'unauthorized',
  RESOURCE_EXHAUSTED: 'throttled',
  UNAVAILABLE: 'outage',
  INTERNAL: 'outage',
  UNKNOWN: 'outage',
  DEADLINE_EXCEEDED: 'timeout',
};

/** Google tells a prompt that is too long from other invalid arguments by its sentence alone. */
const TOO_LONG_TEXT = /token count.{0,40}exceeds|exceeds the maximum number of tokens|only supports up to \d+/i;

export function failureKindOf({ code, text }: Pick<VendorFailure, 'code' | 'text'>): ErrorKind | undefined {
  if (code === 'INVALID_ARGUMENT' && TOO_LONG_TEXT.test(text)) return 'too-long';
  return code === undefined ? undefined : KINDS[code];
}

/** The failure behind an answer to a request that no library has sent. */
export function errorOfGoogle(status: number, response: ErrorResponse | undefined, request: JsonObject): UpstreamError {
  const body = parseJson(response?.text ?? '');
  const kind = failureKindOf({ code: codeOfBody(body), text: '' });
  return errorOfResponse(status, response, request, { kind, retryAfterSeconds: retryDelayOf(body) });
}

/** The code of an error body: `{ error }`, a list of one such object, or the error itself in a stream. */
export function codeOfBody(body: unknown): string | undefined {
  const error = errorIn(body);
  if (error === undefined) return undefined;
  const { status, message } = error;
  if (detailsIn(error).some(({ reason }) => reason === 'API_KEY_INVALID')) return 'API_KEY_INVALID';
  // The library does not read the sentence of an error in a list, which is how streams are refused on Vertex.
  if (status === 'INVALID_ARGUMENT' && typeof message === 'string' && TOO_LONG_TEXT.test(message)) return 'TOO_LONG';
  return typeof status === 'string' ? status : undefined;
}

/** The seconds that Google asks us to wait, which stand in the body: `{ "retryDelay": "17.4s" }`. */
export function retryDelayOf(body: unknown): number | undefined {
  for (const { retryDelay } of detailsIn(errorIn(body))) {
    const [, seconds] = typeof retryDelay === 'string' ? (/^(\d{1,9}(?:\.\d+)?)s$/.exec(retryDelay) ?? []) : [];
    if (seconds !== undefined) return Number(seconds);
  }
  return undefined;
}

function errorIn(body: unknown): JsonObject | undefined {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  if (!isJsonObject(first)) return undefined;
  return isJsonObject(first['error']) ? first['error'] : first;
}

function detailsIn(error: JsonObject | undefined): readonly JsonObject[] {
  const details = error?.['details'];
  return Array.isArray(details) ? details.filter(isJsonObject) : [];
}
