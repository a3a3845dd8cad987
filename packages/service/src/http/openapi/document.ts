import { END_USER_ID, IDEMPOTENCY_KEY } from '@purser/contract/identifiers.ts';
import { type Operation, TAGS } from '@purser/contract/operation.ts';
import { OPERATIONS } from '@purser/contract/operations.ts';
import type { z } from 'zod';
import { HEADERS, refusalsOf } from '#http/openapi/answers.ts';
import type { DescribedRoute, Schema } from '#http/openapi/described-route.ts';
import { jsonSchemaOf, type Named, withSharedParts } from '#http/openapi/json-schema.ts';
import type { OpenApiDocument, OperationObject, Parameter, Response } from '#http/openapi/open-api.ts';
import { describeWebhooks } from '#http/openapi/webhooks.ts';
import { isOptionalBody } from '#http/requests/schema-compilers.ts';
import type { JsonObject } from '#kernel/text/json.ts';

/** How each kind of caller authenticates. The empty alternative of `metrics` is a caller on the same machine. */
const SECURITY: Readonly<Record<DescribedRoute['access'], readonly JsonObject[]>> = {
  public: [],
  session: [{ session: [] }],
  feed: [{ session: [] }, { listenToken: [] }],
  test: [{ session: [] }, { testToken: [] }],
  operator: [{ session: [] }],
  app: [{ apiKey: [] }],
  user: [{ apiKey: [] }],
  metrics: [{ metricsToken: [] }, {}],
};

const SECURITY_SCHEMES = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key of an app: `svc_live_...`, or `svc_test_...` for play money.',
  },
  session: { type: 'http', scheme: 'bearer', description: 'A session token from `POST /sessions`.' },
  listenToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'A listen token of an app, from its Webhooks page or `POST /apps/{appId}/webhook/listen-tokens`.',
  },
  testToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'A test token of an app, from its Sandbox page or `POST /apps/{appId}/sandbox/tokens`.',
  },
  metricsToken: { type: 'http', scheme: 'bearer', description: 'The token that the operator set for metrics.' },
};

const USER: Parameter = {
  name: 'x-service-user',
  in: 'header',
  required: true,
  description:
    'The user of the app for whom the call is made: 1 to 256 visible ASCII characters, chosen by the app. It may be left out with a key that is bound to one user.',
  schema: { type: 'string', pattern: END_USER_ID.source },
};

const CORRELATION: Parameter = {
  name: 'x-correlation-id',
  in: 'header',
  required: false,
  description:
    'Identifies the call in the answer, in receipts and in logs. If you leave it out, or it does not have this form, the service makes one.',
  schema: { type: 'string', pattern: '^[A-Za-z0-9._:-]{1,128}$' },
};

/** The OpenAPI document of these routes at `publicUrl`. The same input always gives the same bytes, so it can be compared. */
export function describeRoutes(routes: readonly DescribedRoute[], publicUrl: string): OpenApiDocument {
  const named: Named = { schemas: new Map(), responses: new Map() };
  const paths: Record<string, Record<string, OperationObject>> = {};
  for (const route of routes) {
    const operation = OPERATIONS[`${route.method} ${route.path}`];
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(route, operation, named) };
  }
  const webhooks = describeWebhooks(named);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Purser',
      version: '1',
      summary:
        'Purser is a metered gateway to language models. Each call is charged to the wallet of the user for whom it is made.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicUrl }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    webhooks,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      headers: HEADERS,
      responses: sorted(named.responses),
      schemas: sorted(named.schemas),
    },
  };
}

/** Sorts by name, so that the order in which routes are added does not change the bytes. */
function sorted<Part>(parts: ReadonlyMap<string, Part>): Readonly<Record<string, Part>> {
  return Object.fromEntries([...parts].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** One operation: its row in the table of operations gives the words, its schemas give everything else. */
function operationOf(route: DescribedRoute, operation: Operation | undefined, named: Named): OperationObject {
  const { method, path, access } = route;
  const { id, tag, summary, description } = operation ?? { id: `${method} ${path}`, tag: 'Service', summary: path };
  const parameters = [
    ...parametersOf(route.params, 'path', named),
    ...parametersOf(route.query, 'query', named),
    ...(access === 'user' ? [USER] : []),
    CORRELATION,
    ...(route.headers?.includes('x-service-replayed') ? [IDEMPOTENCY] : []),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    security: SECURITY[access],
    parameters,
    ...(route.body === undefined ? {} : { requestBody: bodyOf(route.body, named) }),
    responses: { ...answersOf(route, named), ...refusalsOf(route, operation?.refuses ?? [], named) },
  };
}

const IDEMPOTENCY: Parameter = {
  name: 'idempotency-key',
  in: 'header',
  required: false,
  description:
    'A key of 1 to 255 visible ASCII characters. For five minutes, a call with the same key and the same body gets the answer of the first one and is not charged again.',
  schema: { type: 'string', pattern: IDEMPOTENCY_KEY.source },
};

/** One parameter for each field of a schema. A path parameter is always required, even if its schema has a default. */
function parametersOf(schema: z.ZodObject | undefined, place: 'path' | 'query', named: Named): Parameter[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = jsonSchemaOf(schema, 'input', named) as {
    readonly properties?: Readonly<Record<string, JsonObject>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...(typeof description === 'string' ? { description } : {}),
    schema: rest,
  }));
}

function bodyOf(body: Schema, named: Named) {
  const required = !isOurs(body) || !isOptionalBody(body);
  return { required, content: { 'application/json': { schema: schemaOf(body, 'input', named) } } };
}

function schemaOf(schema: Schema, io: 'input' | 'output', named: Named): JsonObject {
  return isOurs(schema) ? jsonSchemaOf(schema, io, named) : withSharedParts(schema, named);
}

/** Tells a schema of ours from plain JSON schema. */
function isOurs(schema: Schema): schema is z.ZodType {
  return '_zod' in schema;
}

function answersOf(route: DescribedRoute, named: Named): Readonly<Record<string, Response>> {
  return Object.fromEntries(
    Object.entries(route.answers).map(([status, json]) => [status, answerOf(route, status, json, named)]),
  );
}

/** One answer with all its forms. The header list of a route applies to its 200 only. */
function answerOf(
  { others = [], headers = [] }: DescribedRoute,
  status: string,
  json: z.ZodType | null,
  named: Named,
): Response {
  const forms = [
    ...(json === null ? [] : [{ contentType: 'application/json', schema: json }]),
    ...(status === '200' ? others : []),
  ];
  const content: [string, { readonly schema: JsonObject }][] = forms.map(({ contentType, schema }) => [
    contentType,
    { schema: schemaOf(schema, 'output', named) },
  ]);
  return {
    description: DESCRIPTIONS[status] ?? 'The request succeeded.',
    headers: headersNamed(['x-correlation-id', 'x-request-id', ...(status === '200' ? headers : [])]),
    ...(content.length === 0 ? {} : { content: Object.fromEntries(content) }),
  };
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  200: 'The request succeeded.',
  201: 'It was created.',
  202: 'The request was accepted, and something is left to do.',
  204: 'The request succeeded. The answer has no body.',
  503: 'The service is not ready.',
};

function headersNamed(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
