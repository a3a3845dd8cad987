/**
 * Every error code on the wire with its HTTP status (ER-01; ER-08 for the last three and `KEY_BUDGET_EXCEEDED`). Callers decide by the code:
 * several codes share a status, and messages may change.
 */
export const ERROR_STATUS = {
  BAD_REQUEST: 400,
  UNAUTHORIZED: 401,
  PAYMENT_REQUIRED: 402,
  APP_SPEND_CAP_EXCEEDED: 402,
  WALLET_SUSPENDED: 402,
  APP_SUSPENDED: 403,
  MODEL_NOT_ENTITLED: 403,
  KEY_BUDGET_EXCEEDED: 403,
  NOT_FOUND: 404,
  PAYLOAD_TOO_LARGE: 413,
  TOO_MANY_REQUESTS: 429,
  CONCURRENT_STREAM_LIMIT: 429,
  UPSTREAM_THROTTLED: 429,
  INTERNAL_SERVER_ERROR: 500,
  UPSTREAM_PROVIDER_ERROR: 502,
  FORBIDDEN: 403,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
} as const;

/** A code of an error. A new one needs a row in both tables, a meaning in the document, and the SDK's list. */
export type ErrorCode = keyof typeof ERROR_STATUS;

/** The `error.type` for clients of the compatible format (ER-07). Stock clients show it, and none decides by it. */
export const ERROR_TYPE = {
  BAD_REQUEST: 'invalid_request_error',
  UNAUTHORIZED: 'authentication_error',
  PAYMENT_REQUIRED: 'insufficient_funds',
  APP_SPEND_CAP_EXCEEDED: 'spend_cap',
  WALLET_SUSPENDED: 'wallet_suspended',
  APP_SUSPENDED: 'permission_error',
  MODEL_NOT_ENTITLED: 'permission_error',
  KEY_BUDGET_EXCEEDED: 'key_budget',
  NOT_FOUND: 'not_found_error',
  PAYLOAD_TOO_LARGE: 'request_too_large',
  TOO_MANY_REQUESTS: 'rate_limit_error',
  CONCURRENT_STREAM_LIMIT: 'concurrency_error',
  UPSTREAM_THROTTLED: 'upstream_throttled',
  INTERNAL_SERVER_ERROR: 'server_error',
  UPSTREAM_PROVIDER_ERROR: 'upstream_error',
  FORBIDDEN: 'permission_error',
  METHOD_NOT_ALLOWED: 'invalid_request_error',
  CONFLICT: 'conflict_error',
} as const satisfies Record<ErrorCode, string>;

/**
 * These finer types of `UPSTREAM_PROVIDER_ERROR` say why the provider failed the call (CC-17). `upstream_error` stays
 * for the rest. Only the last three may pass by themselves.
 */
export const UPSTREAM_ERROR_TYPES = [
  'context_length_exceeded',
  'upstream_rejected',
  'upstream_unauthorized',
  'upstream_refused',
  'upstream_broken',
  'upstream_timeout',
  'upstream_outage',
] as const;

/** The envelope of every error of every plane (ER-01, ER-07). `error.topupUrl` repeats `topupUrl` for stock clients. */
export interface ErrorBody {
  readonly error: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly correlationId: string;
    readonly type: string;
    readonly param: string | null;
    readonly topupUrl?: string;
  };
  readonly topupUrl?: string;
}
