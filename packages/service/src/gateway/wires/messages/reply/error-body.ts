import type { ErrorBody, ErrorCode } from '@purser/contract/errors.ts';
import type { JsonObject } from '#kernel/text/json.ts';

/** The types of errors that libraries of this wire know. */
const TYPES: Readonly<Record<ErrorCode, string>> = {
  BAD_REQUEST: 'invalid_request_error',
  UNAUTHORIZED: 'authentication_error',
  PAYMENT_REQUIRED: 'billing_error',
  APP_SPEND_CAP_EXCEEDED: 'billing_error',
  WALLET_SUSPENDED: 'billing_error',
  APP_SUSPENDED: 'permission_error',
  MODEL_NOT_ENTITLED: 'permission_error',
  KEY_BUDGET_EXCEEDED: 'permission_error',
  NOT_FOUND: 'not_found_error',
  PAYLOAD_TOO_LARGE: 'request_too_large',
  TOO_MANY_REQUESTS: 'rate_limit_error',
  CONCURRENT_STREAM_LIMIT: 'rate_limit_error',
  UPSTREAM_THROTTLED: 'rate_limit_error',
  INTERNAL_SERVER_ERROR: 'api_error',
  UPSTREAM_PROVIDER_ERROR: 'api_error',
  FORBIDDEN: 'permission_error',
  METHOD_NOT_ALLOWED: 'invalid_request_error',
  CONFLICT: 'invalid_request_error',
};

/** The finer types of a provider's failure that have a word on this wire. */
const FINER: ReadonlyMap<string, string> = new Map([
  ['context_length_exceeded', 'invalid_request_error'],
  ['upstream_rejected', 'invalid_request_error'],
  ['upstream_timeout', 'timeout_error'],
]);

/**
 * The body of an error as libraries of this wire read it, with the whole envelope in it. Our own type is `serviceType`. Clients show the
 * message and nothing beside it, so it holds the link to the remedy.
 */
export function errorOf({ error, topupUrl }: ErrorBody): JsonObject {
  const { code, message, type, correlationId, ...rest } = error;
  const hasLink = topupUrl === undefined || message.includes(topupUrl);
  return {
    type: 'error',
    error: {
      type: FINER.get(type) ?? TYPES[code],
      message: hasLink ? message : `${message} ${topupUrl}`,
      code,
      correlationId,
      ...rest,
      serviceType: type,
    },
    request_id: correlationId,
    ...(topupUrl !== undefined && { topupUrl }),
  };
}
