import { type HttpRequest, httpSend, type Reply } from './client.ts';
import { assertRefusal, type Expected } from './refusal.ts';
import { REDIRECT_URI } from './service.ts';
import { ALL_WIRES } from './wires.ts';

/** A route that takes an API key. */
export interface DataPlaneRoute {
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  /** Whether the route concerns one end user, so that `x-service-user` is required (AU-03). */
  readonly isForUser: boolean;
  /** The fields of a good call. */
  readonly body: string | undefined;
  /** The status of a good call's answer. 200 unless given. */
  readonly status?: number;
}

/** The id of no call: a good request for its receipt gets a 404. */
const NO_CALL = '00000000-0000-7000-8000-000000000000';
const COUNTED = JSON.stringify({ model: 'large', messages: [{ role: 'user', content: 'Hello' }] });
const CONNECT = JSON.stringify({ redirectUri: REDIRECT_URI });

/** Every route of the data plane for keys that make calls. Add a new route to this list, and every test of all routes covers it. */
export const DATA_PLANE: readonly DataPlaneRoute[] = [
  ...ALL_WIRES.map(({ path, question }): DataPlaneRoute => {
    return { name: `POST ${path}`, method: 'POST', path, isForUser: true, body: JSON.stringify(question) };
  }),
  { name: 'POST count_tokens', method: 'POST', path: '/v1/messages/count_tokens', isForUser: true, body: COUNTED },
  { name: 'GET /v1/models', method: 'GET', path: '/v1/models', isForUser: false, body: undefined },
  { name: 'GET /v1/models/{model}', method: 'GET', path: '/v1/models/large', isForUser: false, body: undefined },
  { name: 'GET /prices', method: 'GET', path: '/prices', isForUser: false, body: undefined },
  { name: 'GET /balance', method: 'GET', path: '/balance', isForUser: true, body: undefined },
  { name: 'POST /connect', method: 'POST', path: '/connect', isForUser: true, body: CONNECT },
  { name: 'GET /usage/summary', method: 'GET', path: '/usage/summary', isForUser: true, body: undefined },
  {
    name: 'GET /calls/{callId}',
    method: 'GET',
    path: `/calls/${NO_CALL}`,
    isForUser: true,
    body: undefined,
    status: 404,
  },
];

export const FOR_USER: readonly DataPlaneRoute[] = DATA_PLANE.filter(({ isForUser }) => isForUser);

export interface RouteCall {
  readonly url: string;
  readonly key?: string;
  readonly user?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces the fields of a good call. */
  readonly body?: HttpRequest['body'];
}

/** A call of a route: a good one except for the given changes. */
export function callRoute({ method, path, body }: DataPlaneRoute, call: RouteCall): Promise<Reply> {
  const { url, key, user, headers } = call;
  const sent = call.body ?? body;
  return httpSend(url, {
    method,
    path,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(user === undefined ? {} : { 'x-service-user': user }),
      ...headers,
    },
    ...(sent === undefined ? {} : { body: sent }),
  });
}

/** Asserts that each route refuses the call in this way, in the envelope and with its headers. */
export async function everyRouteRefuses(
  routes: readonly DataPlaneRoute[],
  call: RouteCall,
  expected: Expected,
): Promise<void> {
  for (const route of routes) {
    const reply = await callRoute(route, {
      ...call,
      headers: { 'x-correlation-id': 'the-callers.own:id', ...call.headers },
    });
    assertRefusal(reply, expected, route.name);
    if (reply.headers.get('x-correlation-id') !== 'the-callers.own:id') throw new Error(`${route.name} lost the id.`);
  }
}
