// The Gemini wire as Google documents it: https://ai.google.dev/api/generate-content. Nothing here is shared with the adapter.

export type Json = Readonly<Record<string, unknown>>;

/** One part of a content: `text`, `functionCall`, `inlineData` ..., with `thought` and `thoughtSignature` beside it. */
export type Part = Json;

interface TokenDetail {
  readonly modality: 'TEXT' | 'IMAGE' | 'AUDIO' | 'VIDEO' | 'DOCUMENT';
  readonly tokenCount: number;
}

/** Counts of zero are left out, as in all JSON that Google makes of its messages. */
export interface UsageMetadata {
  readonly promptTokenCount?: number;
  readonly cachedContentTokenCount?: number;
  readonly candidatesTokenCount?: number;
  readonly thoughtsTokenCount?: number;
  readonly toolUsePromptTokenCount?: number;
  readonly totalTokenCount?: number;
  readonly promptTokensDetails?: readonly TokenDetail[];
  readonly cacheTokensDetails?: readonly TokenDetail[];
  readonly candidatesTokensDetails?: readonly TokenDetail[];
}

/** `google.rpc.Status` in JSON. */
export interface GoogleError {
  readonly code: number;
  readonly status: string;
  readonly message: string;
  readonly details?: readonly Json[];
}

/** What the server answers to a valid request. */
export interface GeminiAnswer {
  readonly parts?: readonly Part[];
  /** The reason is `STOP` unless given. If it is null, the candidate has none. */
  readonly finishReason?: string | null;
  /** The token is set with the reason `CONTINUATION`: the answer could go on. */
  readonly continuationToken?: string;
  readonly usage?: UsageMetadata;
  /** The reason is set if the prompt was blocked. Then there is no candidate. */
  readonly blockReason?: string;
  /** A stream ends like this after its parts: with an error object, without a finish, or with a reset connection. */
  readonly breakBy?: GoogleError | 'end' | 'reset';
}

/** A refusal instead of an answer, with the headers of its response. */
export interface GeminiFailure {
  readonly error: GoogleError;
  readonly headers?: Readonly<Record<string, string>>;
}

export function invalidArgument(message: string, details?: readonly Json[]): GoogleError {
  return { code: 400, status: 'INVALID_ARGUMENT', message, ...(details && { details }) };
}

function errorInfo(reason: string, domain: string): Json {
  return { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain };
}

/** The failures that a caller of Gemini meets, in Google's words and codes. */
export const FAILURES = {
  keyInvalid: invalidArgument('API key not valid. Please pass a valid API key.', [
    errorInfo('API_KEY_INVALID', 'googleapis.com'),
  ]),
  keyMissing: {
    code: 403,
    status: 'PERMISSION_DENIED',
    message: "Method doesn't allow unregistered callers (callers without established identity).",
  },
  tokenRefused: {
    code: 401,
    status: 'UNAUTHENTICATED',
    message: 'Request had invalid authentication credentials. Expected OAuth 2 access token.',
    details: [errorInfo('ACCESS_TOKEN_TYPE_UNSUPPORTED', 'googleapis.com')],
  },
  noPermission: {
    code: 403,
    status: 'PERMISSION_DENIED',
    message: "Permission 'aiplatform.endpoints.predict' denied on resource (or it may not exist).",
    details: [errorInfo('IAM_PERMISSION_DENIED', 'aiplatform.googleapis.com')],
  },
  notReadable: invalidArgument('Unable to process input image.'),
  notFound: { code: 404, status: 'NOT_FOUND', message: 'models/gemini-0 is not found for API version v1beta.' },
  contextOverflow: invalidArgument(
    'The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).',
  ),
  exhausted: {
    code: 429,
    status: 'RESOURCE_EXHAUSTED',
    message: 'You exceeded your current quota. Please retry in 17.4s.',
    details: [
      { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId: 'RequestsPerMinute' }] },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '17.4s' },
    ],
  },
  overloaded: { code: 503, status: 'UNAVAILABLE', message: 'The model is overloaded. Please try again later.' },
  internal: { code: 500, status: 'INTERNAL', message: 'An internal error has occurred.' },
  notServedHere: {
    code: 400,
    status: 'FAILED_PRECONDITION',
    message: 'User location is not supported for the API use.',
  },
} as const satisfies Readonly<Record<string, GoogleError>>;
