import { errorSchema } from '@purser/contract/data-plane.ts';
import { ERROR_STATUS, type ErrorCode } from '@purser/contract/errors.ts';
import type { DescribedRoute } from '#http/openapi/described-route.ts';
import { jsonSchemaOf, type Named } from '#http/openapi/json-schema.ts';
import type { Reference, Response } from '#http/openapi/open-api.ts';
import type { JsonObject } from '#kernel/json.ts';

const text = (description: string) => ({ description, schema: { type: 'string' } });
const whole = (description: string) => ({ description, schema: { type: 'integer', minimum: 0 } });

/** Every header that the document tells of. */
export const HEADERS = {
  'x-correlation-id': text('Names the call: the caller’s own, or one that was made.'),
  'x-request-id': text('The same as `x-correlation-id`, for clients that show this one.'),
  'x-should-retry': { description: 'Whether a retry makes sense.', schema: { enum: ['true', 'false'] } },
  'retry-after': { description: 'Seconds.', schema: { type: 'integer', minimum: 1, maximum: 60 } },
  'retry-after-ms': whole('Milliseconds: the same, more exactly.'),
  'www-authenticate': { description: 'How to say who calls.', schema: { const: 'Bearer' } },
  'x-service-topup-url': text('Where the end user can mend it.'),
  'x-service-mode': { description: 'With a test key.', schema: { const: 'sandbox' } },
  'x-service-call-id': text('Names the call for `GET /apps/{appId}/calls/{callId}`.'),
  'x-service-charge-micros': whole('What the call cost. A stream has none: it ends after its headers are sent.'),
  'x-service-max-output-tokens': whole('The output limit, where the wallet affords less than was asked for.'),
  'x-service-replayed': { description: 'The answer is one that was given before.', schema: { const: 'true' } },
  link: text('The next page of a table, as `<address>; rel="next"`. Not there on the last one.'),
  'ratelimit-policy': text('How many calls the app may make at once, and in which time that fills up again.'),
  ratelimit: text('How many are left, and the seconds until all are there again.'),
} as const satisfies Readonly<Record<string, JsonObject>>;

/** What a route answers when it does not do what it was asked: by status, with the codes that each can have. */
export function refusalsOf(
  route: DescribedRoute,
  more: readonly ErrorCode[],
  named: Named,
): Readonly<Record<string, Reference>> {
  const byStatus = Object.groupBy(codesOf(route, more), (code) => ERROR_STATUS[code]);
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, codes]) => {
      const name = codes.join('.');
      named.responses.set(name, refusalOf(status, codes, jsonSchemaOf(errorSchema, 'output', named)));
      return [status, { $ref: `#/components/responses/${name}` }];
    }),
  );
}

/** In the order of the table of errors, and not in the order in which the route names them. */
function codesOf(route: DescribedRoute, more: readonly ErrorCode[]): readonly ErrorCode[] {
  const { access, params, query, body, path } = route;
  const codes = new Set<ErrorCode>(more);
  const isDataPlane = access === 'app' || access === 'user';
  // A body that cannot be read is refused also where none is looked at.
  if (access !== 'public' && access !== 'metrics') codes.add('UNAUTHORIZED').add('BAD_REQUEST');
  if (access === 'operator') codes.add('FORBIDDEN');
  if (isDataPlane) codes.add('APP_SUSPENDED').add('TOO_MANY_REQUESTS');
  if (isDataPlane || body !== undefined) codes.add('BAD_REQUEST').add('PAYLOAD_TOO_LARGE');
  if (params !== undefined || query !== undefined) codes.add('BAD_REQUEST');
  if (path !== '/healthz') codes.add('INTERNAL_SERVER_ERROR');
  return (Object.keys(ERROR_STATUS) as ErrorCode[]).filter((code) => codes.has(code));
}

function refusalOf(status: string, codes: readonly ErrorCode[], error: JsonObject): Response {
  const isRetried = status === '429' || status === '409';
  const names = [
    'x-correlation-id',
    'x-request-id',
    ...(status === '500' ? [] : ['x-should-retry']),
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
  BAD_REQUEST: 'something in the request is not as it must be; `param` names it.',
  UNAUTHORIZED: 'no valid key or token was shown.',
  PAYMENT_REQUIRED: 'the wallet does not cover it, or there is none.',
  APP_SPEND_CAP_EXCEEDED: 'the cap that the user set for the app and the month is reached.',
  WALLET_SUSPENDED: 'the wallet is blocked.',
  APP_SUSPENDED: 'the app is suspended.',
  MODEL_NOT_ENTITLED: 'the app may not call this model.',
  NOT_FOUND: 'there is no such thing here.',
  PAYLOAD_TOO_LARGE: 'the body is too large.',
  TOO_MANY_REQUESTS: 'too many in too short a time.',
  CONCURRENT_STREAM_LIMIT: 'the user has as many streams open as are allowed.',
  UPSTREAM_THROTTLED: 'the provider is throttling. Nothing was charged.',
  INTERNAL_SERVER_ERROR: 'a fault of ours.',
  UPSTREAM_PROVIDER_ERROR: 'the provider failed. Nothing was charged.',
  FORBIDDEN: 'the account may not do that.',
  METHOD_NOT_ALLOWED: 'another method.',
  CONFLICT: 'it does not go with what is there.',
};
