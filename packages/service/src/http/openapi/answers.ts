import { leastRoleOf } from '@purser/contract/access.ts';
import { errorSchema } from '@purser/contract/data-plane.ts';
import { ERROR_STATUS, type ErrorCode } from '@purser/contract/errors.ts';
import { isOpenWithoutFactor } from '#developers/operators/role.ts';
import type { DescribedRoute } from '#http/openapi/described-route.ts';
import { jsonSchemaOf, type Named } from '#http/openapi/json-schema.ts';
import type { Reference, Response } from '#http/openapi/open-api.ts';
import type { JsonObject } from '#kernel/text/json.ts';

const text = (description: string) => ({ description, schema: { type: 'string' } });
const whole = (description: string) => ({ description, schema: { type: 'integer', minimum: 0 } });

/** Every header that the document describes. */
export const HEADERS = {
  'x-correlation-id': text('The correlation id of the call: the one that you sent, or a new one.'),
  'x-request-id': text('The same as `x-correlation-id`, for clients that show this header.'),
  'request-id': text('The same again, for clients of the Messages interface.'),
  'x-should-retry': { description: 'Whether a retry makes sense.', schema: { enum: ['true', 'false'] } },
  'retry-after': {
    description: 'How long to wait before a retry, in seconds.',
    schema: { type: 'integer', minimum: 1, maximum: 60 },
  },
  'retry-after-ms': whole('The same time in milliseconds, more exactly.'),
  'www-authenticate': { description: 'How to send the key or token.', schema: { const: 'Bearer' } },
  'x-service-topup-url': text('The address of the page where the user can pay, or raise the cap.'),
  'x-service-mode': { description: 'Marks the answers to calls with a test key.', schema: { const: 'sandbox' } },
  'x-service-call-id': text('The id of the call for `GET /calls/{callId}` and `GET /apps/{appId}/calls/{callId}`.'),
  'x-service-charge-micros': whole(
    'What the call was charged, in micros. A stream says it in its last comment, because it is known only then; a replayed stream has this header too.',
  ),
  'x-service-max-output-tokens': whole(
    'The output limit of each choice in tokens, if it is lower than you asked for, because of what the wallet affords or the size of an answer.',
  ),
  'x-service-left-out': text(
    'What of the request was left out because the model cannot do it, such as `web_search`. Absent if nothing was.',
  ),
  'x-service-upstream': text(
    'The provider that served the call, and its name for the model. Only the operator’s own apps get it.',
  ),
  'x-service-replayed': {
    description: 'Says that the answer was given before and is repeated.',
    schema: { const: 'true' },
  },
  'x-service-unconfirmed': text(
    'The processes of this service that had not confirmed the change after a second, by their numbers. They may go on as before for up to 15 seconds. It is absent if all have.',
  ),
  link: text('The next page of a table, as `<address>; rel="next"`. The last page has none.'),
  'ratelimit-policy': text('How many calls the app may make at once, and how long that many take to come back.'),
  ratelimit: text('How many calls are left, and the seconds until all are available again.'),
  'x-ratelimit-limit-requests': whole('How many calls the app may make at once.'),
  'x-ratelimit-remaining-requests': whole('How many calls are left.'),
  'x-ratelimit-reset-requests': {
    description:
      'The time until all calls are available again or, in a refusal because of the rate, until the next one is.',
    schema: { type: 'string', pattern: '^[0-9]+s$' },
  },
} as const satisfies Readonly<Record<string, JsonObject>>;

/**
 * The refusals of a route by status, each with the codes that it can have. Routes with the same codes share one response
 * of the document.
 */
export function refusalsOf(
  route: DescribedRoute,
  more: readonly ErrorCode[],
  named: Named,
): Readonly<Record<string, Reference>> {
  const byStatus = Object.groupBy(codesOf(route, more), (code) => ERROR_STATUS[code]);
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, codes]) => {
      const { error = errorSchema } = route;
      // Errors of one form and with the same codes are one response of the document.
      const name = `${error === errorSchema ? '' : 'Messages.'}${codes.join('.')}`;
      const ids = error === errorSchema ? IDS : [...IDS, 'request-id'];
      named.responses.set(name, refusalOf(status, codes, { ids, error: jsonSchemaOf(error, 'output', named) }));
      return [status, { $ref: `#/components/responses/${name}` }];
    }),
  );
}

/**
 * The codes that a route can answer with: those that follow from its access and schemas, and those that it names. In the
 * order of `ERROR_STATUS`, so that the document does not depend on the order in which they were written down.
 */
function codesOf(route: DescribedRoute, more: readonly ErrorCode[]): readonly ErrorCode[] {
  const { access, params, query, body, path, method } = route;
  const codes = new Set<ErrorCode>(more);
  const isDataPlane = access === 'app' || access === 'user';
  // A malformed body is refused even by routes that read none.
  if (access !== 'public' && access !== 'metrics') codes.add('UNAUTHORIZED').add('BAD_REQUEST');
  if (access === 'operator' || needsRole(route)) codes.add('FORBIDDEN');
  // An operator without the second factor that they need (CP-06).
  if ((access === 'session' || access === 'feed' || access === 'test') && !isOpenWithoutFactor(path))
    codes.add('FORBIDDEN');
  // With several cells, what belongs to the directory is refused everywhere else (`cells/directory/directory.ts`).
  const isOfPlanes =
    access === 'session' || access === 'feed' || access === 'test' || access === 'operator' || path === '/sessions';
  if (isOfPlanes && method !== 'GET') codes.add('CONFLICT');
  if (isDataPlane) codes.add('APP_SUSPENDED').add('FORBIDDEN'); // The latter from an address that is not the key's (CP-08).
  if (access !== 'public' && access !== 'metrics') codes.add('TOO_MANY_REQUESTS');
  if (body !== undefined) codes.add('TOO_MANY_REQUESTS'); // Bodies are limited even for callers whom nobody knows.
  if (isDataPlane || body !== undefined) codes.add('BAD_REQUEST').add('PAYLOAD_TOO_LARGE');
  if (params !== undefined || query !== undefined) codes.add('BAD_REQUEST');
  if (path !== '/healthz') codes.add('INTERNAL_SERVER_ERROR');
  return (Object.keys(ERROR_STATUS) as ErrorCode[]).filter((code) => codes.has(code));
}

/** Whether a member of the app may be refused because their role is too low. */
function needsRole({ method, path }: DescribedRoute): boolean {
  return path.startsWith('/apps/{appId}') && leastRoleOf(`${method} ${path}`) !== 'viewer';
}

interface RefusalForm {
  /** The headers that name the answer. */
  readonly ids: readonly string[];
  readonly error: JsonObject;
}

const IDS = ['x-correlation-id', 'x-request-id'] as const;

/** One response of the document. The codes narrow the error schema, so that generated clients know which can occur. */
function refusalOf(status: string, codes: readonly ErrorCode[], { ids, error }: RefusalForm): Response {
  // A 402 of a call passes if money is only on hold (WA-13).
  const isRetried = ['409', '429', '500'].includes(status) || codes.includes('APP_SPEND_CAP_EXCEEDED');
  const names = [
    ...ids,
    'x-should-retry',
    ...(status === '401' ? ['www-authenticate'] : []),
    ...(codes.includes('PAYMENT_REQUIRED') ? ['x-service-topup-url'] : []),
    ...(isRetried ? ['retry-after', 'retry-after-ms'] : []),
  ];
  return {
    description: codes.map((code) => `\`${code}\`: ${MEANINGS[code]}`).join(' '),
    headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    content: {
      'application/json': {
        schema: { allOf: [error, { properties: { error: { properties: { code: { enum: codes } } } } }] },
      },
    },
  };
}

const MEANINGS: Readonly<Record<ErrorCode, string>> = {
  BAD_REQUEST: 'something in the request is not valid; `param` names it.',
  UNAUTHORIZED: 'no valid key or token was sent.',
  PAYMENT_REQUIRED: 'the wallet does not cover the call, or there is no wallet.',
  APP_SPEND_CAP_EXCEEDED: 'the monthly cap that the user set for the app is reached.',
  WALLET_SUSPENDED: 'the wallet is suspended.',
  APP_SUSPENDED: 'the app is suspended.',
  MODEL_NOT_ENTITLED: 'the app, or this API key, may not call this model.',
  KEY_BUDGET_EXCEEDED: 'the monthly budget of the API key does not cover the call.',
  NOT_FOUND: 'what you named does not exist, or is not yours.',
  PAYLOAD_TOO_LARGE: 'the body is too large.',
  TOO_MANY_REQUESTS: 'too many requests were sent in too short a time.',
  CONCURRENT_STREAM_LIMIT: 'the user already has as many open streams as are allowed.',
  UPSTREAM_THROTTLED: 'the provider is throttling. Nothing was charged.',
  INTERNAL_SERVER_ERROR: 'the service failed.',
  UPSTREAM_PROVIDER_ERROR: 'the provider failed. Nothing was charged.',
  FORBIDDEN:
    'the account may not do this, its role in the app is too low, or the API key may not be used from this address.',
  METHOD_NOT_ALLOWED: 'the address does not accept this method.',
  CONFLICT: 'the request conflicts with the present state, or with an earlier request.',
};
