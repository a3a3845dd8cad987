import { isJsonObject, type JsonObject, parseJson } from '#kernel/text/json.ts';
import { UpstreamError, type UpstreamErrorKind } from '#providers/port/provider.ts';
import type { Dialect } from '#providers/dialect/dialect.ts';
import { retryAfterMsOf } from '@purser/upstream-http/retry-after.ts';

/** What a status means if the vendor's own code says nothing more. */
function kindOfStatus(status: number): UpstreamErrorKind {
  if (status === 429 || status === 529) return 'throttled';
  if (status === 401 || status === 402 || status === 403) return 'unauthorized';
  if (status === 413) return 'too-long';
  if (status === 400 || status === 404 || status === 422) return 'rejected';
  if (status === 408) return 'timeout';
  return status >= 500 ? 'outage' : 'refused';
}

const WORDS: Partial<Record<UpstreamErrorKind, string>> = {
  throttled: 'The provider throttled the call',
  'too-long': 'The prompt is too long for the provider’s model',
  unauthorized: 'The provider refused our credentials',
  rejected: 'The provider rejected the call',
  timeout: 'The provider did not respond in time',
  outage: 'The provider failed',
};

/** A library's own marks of its errors: they hold in every copy of `@ai-sdk/provider` that is installed. */
const API_CALL_ERROR = Symbol.for('vercel.ai.error.AI_APICallError');
const STREAM_ERROR = Symbol.for('vercel.ai.providerStreamError');
const UNSUPPORTED = Symbol.for('vercel.ai.error.AI_UnsupportedFunctionalityError');

function isMarked(fault: unknown, mark: symbol): fault is JsonObject {
  return typeof fault === 'object' && fault !== null && (fault as Record<symbol, unknown>)[mark] === true;
}

/**
 * The provider's failure behind what a vendor's library throws or sends as an error part. The library's error is not its cause:
 * it holds the vendor's text, and often the request (ER-03). What the library refused before it sent anything is our fault, and
 * is returned as a plain error.
 */
export function vendorFailureOf(dialect: Dialect, fault: unknown): Error {
  const ours = ownErrorIn(fault);
  // A status says what happened, even if we read no further because its body was too long.
  if (ours !== undefined && !isFailedResponse(fault)) return ours;
  if (isMarked(fault, UNSUPPORTED))
    return new Error(`The library for ${dialect.kind} refused a request that we let pass.`);
  if (!isMarked(fault, API_CALL_ERROR) && !isMarked(fault, STREAM_ERROR)) {
    return new UpstreamError('malformed', 'The provider did not answer with a completion.');
  }
  const status = typeof fault['statusCode'] === 'number' ? fault['statusCode'] : undefined;
  // The library could not read the body of a good response.
  if (status !== undefined && status < 300 && isMarked(fault, API_CALL_ERROR)) {
    return new UpstreamError('malformed', 'The provider did not answer with a completion.', { status });
  }
  const headers = isJsonObject(fault['responseHeaders']) ? (fault['responseHeaders'] as Record<string, string>) : {};
  const { type, data, message } = fault;
  const body = bodyOf(fault) ?? data;
  const code = typeof type === 'string' ? type : dialect.codeOf(body, headers);
  const text = typeof message === 'string' ? message : '';
  const kind =
    dialect.failureKindOf({ status, code, text }) ?? (status === undefined ? 'refused' : kindOfStatus(status));
  const words = WORDS[kind] ?? 'The provider refused the call';
  return new UpstreamError(kind, status === undefined ? `${words}.` : `${words} (${status}).`, {
    status,
    retryAfterSeconds: retryAfterIn(headers) ?? dialect.retryDelayOf?.(body),
  });
}

function isFailedResponse(fault: unknown): boolean {
  return isMarked(fault, API_CALL_ERROR) && Number(fault['statusCode']) >= 400;
}

const CAUSES_MAX = 5;

/** An error of ours that a library has wrapped. */
function ownErrorIn(fault: unknown): UpstreamError | undefined {
  let at = fault;
  for (let depth = 0; depth < CAUSES_MAX; depth += 1) {
    if (at instanceof UpstreamError) return at;
    if (typeof at !== 'object' || at === null) return undefined;
    at = (at as { cause?: unknown }).cause;
  }
  return undefined;
}

function bodyOf({ responseBody }: JsonObject): unknown {
  return typeof responseBody === 'string' ? parseJson(responseBody) : undefined;
}

function retryAfterIn(headers: Readonly<Record<string, string>>): number | undefined {
  const lines = Object.entries(headers).map(([name, value]) => `\r\n${name}: ${value}`);
  const milliseconds = retryAfterMsOf(lines.join(''));
  return milliseconds === undefined ? undefined : milliseconds / 1_000;
}
