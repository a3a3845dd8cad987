import assert from 'node:assert/strict';
import type { Reply } from './client.ts';

/** Status, type and retriability of each code, written down independently of the service's table (ER-01). */
const CODES = {
  BAD_REQUEST: [400, 'invalid_request_error', 'no'],
  UNAUTHORIZED: [401, 'authentication_error', 'no'],
  PAYMENT_REQUIRED: [402, 'insufficient_funds', 'no'],
  APP_SPEND_CAP_EXCEEDED: [402, 'spend_cap', 'no'],
  WALLET_SUSPENDED: [402, 'wallet_suspended', 'no'],
  APP_SUSPENDED: [403, 'permission_error', 'no'],
  MODEL_NOT_ENTITLED: [403, 'permission_error', 'no'],
  KEY_BUDGET_EXCEEDED: [403, 'key_budget', 'no'],
  NOT_FOUND: [404, 'not_found_error', 'no'],
  METHOD_NOT_ALLOWED: [405, 'invalid_request_error', 'no'],
  PAYLOAD_TOO_LARGE: [413, 'request_too_large', 'no'],
  TOO_MANY_REQUESTS: [429, 'rate_limit_error', 'yes'],
  CONCURRENT_STREAM_LIMIT: [429, 'concurrency_error', 'yes'],
  UPSTREAM_THROTTLED: [429, 'upstream_throttled', 'yes'],
  INTERNAL_SERVER_ERROR: [500, 'server_error', 'yes'],
  UPSTREAM_PROVIDER_ERROR: [502, 'upstream_error', 'no'],
  FORBIDDEN: [403, 'permission_error', 'no'],
  CONFLICT: [409, 'conflict_error', 'no'],
} as const satisfies Record<string, readonly [number, string, 'yes' | 'no']>;

/** Why a provider failed a call, as `error.type` says it (CC-17). */
const FAILURE_TYPES = [
  'context_length_exceeded',
  'upstream_rejected',
  'upstream_unauthorized',
  'upstream_refused',
  'upstream_broken',
  'upstream_timeout',
  'upstream_outage',
];

export type Code = keyof typeof CODES;

export interface Expected {
  readonly code: Code;
  readonly param?: string | null;
  /** Why a provider failed. If it is left out, it may be any of the known reasons. */
  readonly type?: string;
  /** Whether it carries a link. Not checked if left out. */
  readonly hasLink?: boolean;
  /** Whether only money on hold for other calls stands in the way, so that a retry helps (WA-13). */
  readonly isPassing?: boolean;
}

/** The pattern matches stack traces, our files, SQL, and the libraries that an error could come from. */
const INTERNAL =
  /\n|\bat \S+:\d+|\.ts\b|node:|undici|ECONN|select |ledger\.\w|sandbox\.\w|purser_|SyntaxError|TypeError|wallet_id/;

/** The envelope as it is, and that of an error of Messages, which has all of it under names of its own (WI-09). */
function envelopeIn(reply: Reply): Reply {
  const { type: form, request_id: id, ...rest } = reply.body;
  const { serviceType, type: word, message, ...fields } = reply.error;
  if (form !== 'error') return reply;
  assert.equal(id, fields['correlationId']);
  assert.match(String(word), /_error$|^request_too_large$/);
  const link = typeof rest['topupUrl'] === 'string' ? ` ${rest['topupUrl']}` : '';
  const said = typeof message === 'string' ? message.replace(link, '') : message;
  const error = { ...fields, message: said, type: serviceType };
  return { ...reply, error, body: { ...rest, error } };
}

/** The whole envelope of a refusal, and the headers that go with its code (ER-01, ER-02, ER-03, ER-05, ER-07). */
export function assertRefusal(answer: Reply, expected: Expected, about = ''): void {
  const reply = envelopeIn(answer);
  const [status, type, ordinary] = CODES[expected.code];
  const retry = expected.isPassing === true ? 'yes' : ordinary;
  const shown = `${about} ${reply.status} ${reply.text}`;
  assert.equal(reply.error['code'], expected.code, shown);
  assert.equal(reply.status, status, shown);
  assert.equal(reply.headers.get('content-type'), 'application/json; charset=utf-8', shown);
  assertEnvelope(reply.body, expected.type ?? type, shown);
  assert.equal(reply.error['correlationId'], reply.headers.get('x-correlation-id'), shown);
  assert.equal(reply.headers.get('x-request-id'), reply.headers.get('x-correlation-id'), shown);
  if (expected.param !== undefined) assert.equal(reply.error['param'], expected.param, shown);
  if (expected.hasLink !== undefined) assert.equal('topupUrl' in reply.body, expected.hasLink, shown);
  assert.equal(reply.headers.get('x-service-topup-url'), reply.body['topupUrl'] ?? null, shown);
  assertRetryHeaders(reply.headers, retry, shown);
}

/** The same for a refusal that names this field, or none, and carries no link. */
export function assertRefused(reply: Reply, code: Code, param: string | null = null): void {
  assertRefusal(reply, { code, param, hasLink: false }, reply.text);
}

/** A body that is the envelope and nothing else. */
export function assertEnvelope(body: Readonly<Record<string, unknown>>, type: string, shown: string): void {
  const link = 'topupUrl' in body ? ['topupUrl'] : [];
  assert.deepEqual(Object.keys(body).toSorted(), ['error', ...link], shown);
  const error = body['error'] as Record<string, unknown>;
  const fields = ['code', 'correlationId', 'message', 'param', ...link, 'type'].toSorted();
  assert.deepEqual(Object.keys(error).toSorted(), fields, shown);
  const types = type === 'upstream_error' ? FAILURE_TYPES : [type];
  assert.ok(types.includes(String(error['type'])), shown);
  assert.ok(error['param'] === null || typeof error['param'] === 'string', shown);
  assert.equal(error['topupUrl'], body['topupUrl'], shown);
  assert.ok(typeof error['message'] === 'string' && error['message'] !== '', shown);
  assert.doesNotMatch(error['message'], INTERNAL, shown);
}

function assertRetryHeaders(headers: Headers, retry: 'yes' | 'no', shown: string): void {
  const said = { yes: 'true', no: 'false' }[retry];
  assert.equal(headers.get('x-should-retry'), said, shown);
  const seconds = headers.get('retry-after');
  if (retry === 'yes') {
    assert.match(seconds ?? '', /^\d+$/, shown);
    assert.ok(Number(seconds) >= 1 && Number(seconds) <= 60, shown);
  } else {
    assert.equal(seconds, null, shown);
  }
}
