import type { ErrorResponse } from '@purser/upstream-http/client.ts';
import { isJsonObject, type JsonObject, parseJson } from '#kernel/text/json.ts';
import { checkForError, errorOfFrame, errorOfResponse } from '#providers/errors/errors.ts';
import { factsOfError, factsOfText } from '#providers/errors/facts.ts';
import type { ErrorKind } from '#providers/errors/kind.ts';
import type { UpstreamError } from '#providers/port/provider.ts';
import type { VendorFailure } from '#providers/dialect/dialect.ts';

/**
 * The names are in small letters, because the same names begin with a capital in a response, and with a small letter in
 * a stream.
 */
const KINDS: Readonly<Record<string, ErrorKind>> = {
  throttlingexception: 'throttled',
  servicequotaexceededexception: 'throttled',
  modelnotreadyexception: 'throttled',
  accessdeniedexception: 'unauthorized',
  unrecognizedclientexception: 'unauthorized',
  expiredtokenexception: 'unauthorized',
  incompletesignatureexception: 'unauthorized',
  invalidsignatureexception: 'unauthorized',
  missingauthenticationtokenexception: 'unauthorized',
  modeltimeoutexception: 'timeout',
  modelerrorexception: 'outage',
  modelstreamerrorexception: 'outage',
  internalserverexception: 'outage',
  serviceunavailableexception: 'outage',
  resourcenotfoundexception: 'rejected',
};

/** Matches a prompt that is too long, because Bedrock has one code for everything that is wrong with a request. */
const TOO_LONG =
  /input is too long|too many (input )?tokens|prompt is too long|exceed context limit|maximum context length/i;

export function failureKindOf({ code = '', text }: Pick<VendorFailure, 'code' | 'text'>): ErrorKind | undefined {
  const name = code.toLowerCase();
  if (name === 'validationexception') return TOO_LONG.test(text) ? 'too-long' : 'rejected';
  return KINDS[name];
}

/** The name of an error without what AWS writes around it: `com.amazon.coral#ThrottlingException:http://...`. */
export function nameOfError(told: string | undefined): string | undefined {
  return told?.replace(/:.*$/, '').replace(/^.*#/, '');
}

const ERROR_TYPE = /\r\nx-amzn-errortype:[\t ]*([^\r]*)/i;

/** The failure behind an answer to a request that no library has sent. */
export function errorOfAws(status: number, response: ErrorResponse | undefined, request: JsonObject): UpstreamError {
  const { text = '', head = '' } = response ?? {};
  const code = nameOfError(ERROR_TYPE.exec(head)?.[1]) ?? typeIn(parseJson(text));
  const kind = failureKindOf({ code, text: factsOfText(text).message });
  return errorOfResponse(status, response, request, { kind });
}

/** Throws the failure that JSON tells of which came with status 200. */
export function checkForAwsError(body: unknown): void {
  const code = typeIn(body);
  if (code !== undefined) throw errorOfFrame(eventOfException(code, factsOfError(body).message));
  checkForError(body);
}

function typeIn(body: unknown): string | undefined {
  const type = isJsonObject(body) ? body['__type'] : undefined;
  return typeof type === 'string' ? nameOfError(type) : undefined;
}

/** The types of errors of Messages that mean the same. */
const TYPES: Readonly<Record<ErrorKind, string>> = {
  throttled: 'rate_limit_error',
  'too-long': 'request_too_large',
  rejected: 'invalid_request_error',
  unauthorized: 'permission_error',
  refused: 'api_error',
  timeout: 'timeout_error',
  outage: 'api_error',
};

/** An exception in a stream as the event that Anthropic sends in its place. */
export function eventOfException(code: string, text: string): JsonObject {
  return { type: 'error', error: { type: TYPES[failureKindOf({ code, text }) ?? 'outage'] } };
}
