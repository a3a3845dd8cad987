import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { leastRoleOf } from '@purser/contract/access.ts';
import { operatorAccessOf } from '@purser/contract/operator-access.ts';
import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import type { ListenTokens } from '#developers/teams/listen-token.ts';
import type { Tester, TestTokens } from '#developers/teams/test-token.ts';
import { factorRefusal, operatorRefusal, type OperatorRules } from '#developers/operators/role.ts';
import type { Sessions, SignedIn } from '#developers/sessions/session.ts';
import type { CallerAddress } from '#http/requests/caller-address.ts';
import { addReference } from '#http/reference/reference-routes.ts';
import type { DescribedRoute } from '#http/openapi/described-route.ts';
import { describedRouteOf } from '#http/openapi/plane-routes.ts';
import { notJson, readBodies } from '#http/planes/read-bodies.ts';
import { checkAnswer, readRequest, type SchemaTypes } from '#http/requests/schema-compilers.ts';
import { awayRefusal, Refused } from '#http/answers/refused.ts';
import { type Exchange, sendFault, sendNotAllowed, sendNowhere, sendRefusal } from '#http/answers/respond.ts';
import { unstorableText } from '#http/requests/storable-text.ts';
import { bearerTokenOf } from '#kernel/text/header-text.ts';
import type { AppId } from '#kernel/values/ids.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { Pace } from '#limits/pace.ts';

/** The control and operator planes: routes whose schemas check requests and describe themselves in `/openapi.json`. */
export interface Planes {
  /** Answers any request, also one that no route is for. Every error is in the envelope (ER-01, ER-04). */
  readonly handle: (exchange: Exchange) => void;
  /** The path of a request with names in place of its variable parts. Undefined if no route is for it. */
  readonly nameOf: (method: string, path: string) => string | undefined;
  readonly close: () => Promise<void>;
}

/** The plane to which routes are added. */
export type Plane = FastifyInstance<Server, IncomingMessage, ServerResponse, FastifyBaseLogger, SchemaTypes>;

/** An end user's name of 256 characters, each of them encoded as `%2F`. Longer segments match nothing. */
const PATH_PART_LENGTH_MAX = 768;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Returns the result of a step. If the step refused, this ends the handler, and the refusal becomes the answer. */
export function granted<Result>(result: Result): Exclude<Result, Refusal> {
  if (result instanceof Refusal) throw new Refused(result);
  return result as Exclude<Result, Refusal>;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Anybody may call this route. Every other route checks the session before anything else (AU-05). */
    readonly isPublic?: boolean;
    /** A listen token opens this route as well, for its own app. It opens no other route. */
    readonly isFeed?: boolean;
    /** A test token opens this route as well, for its own app. It opens no other route (SB-07). */
    readonly isForTests?: boolean;
    /** The body may have 1 MiB. Every other one has at most 64 KiB: parsing more would keep other callers waiting. */
    readonly isLarge?: boolean;
  }
  interface FastifyRequest {
    /** The caller of a route that is not public. */
    signedIn: SignedIn | undefined;
    /** The only app that the caller's token is for. Undefined if a session, which is for all apps of its account. */
    onlyApp: AppId | undefined;
    /** The test token of the request. Then nobody is signed in. */
    tester: Tester | undefined;
  }
}

/** How fast requests may come, over all routes. */
export interface PlanePaces {
  /** The pace of requests from one network address, with a session or without. */
  readonly addresses: Pace;
  /** The pace of requests with sessions of one account. */
  readonly accounts: Pace;
}

interface PlanesOptions extends OperatorRules {
  readonly log: Log;
  /** Finds the session of a token; undefined if the token is not valid. */
  readonly findSession: Sessions['find'];
  /** Finds the account and app of a listen token; undefined if it is not valid. */
  readonly findListenToken: ListenTokens['find'];
  /** Finds the account and app of a test token; undefined if it is not valid. */
  readonly findTestToken: TestTokens['find'];
  readonly addressOf: CallerAddress;
  readonly paces: PlanePaces;
  /** Shows people that there is no page at an address. */
  readonly showNotFound: (exchange: Exchange) => Promise<void>;
  /** The address of the service in the OpenAPI document. */
  readonly publicUrl: string;
}

type Router = Pick<FastifyInstance<Server, IncomingMessage, ServerResponse>, 'findRoute'>;

/** This is never called, because every route is compiled by `readRequest` and `checkAnswer`. */
function buildNone(): never {
  throw new Error('A route was compiled before the compilers were set.');
}

/**
 * Builds the planes on a framework instance that never listens: `server.ts` hands it requests. The framework only routes,
 * parses and validates. All answers that are errors are written by `respond.ts`, so that every plane has the same envelope.
 */
export async function createPlanes(options: PlanesOptions, addRoutes: (plane: Plane) => void): Promise<Planes> {
  const { log, addressOf, showNotFound, publicUrl } = options;
  const exchanges = new WeakMap<IncomingMessage, Exchange>();
  const answerNowhere = (exchange: Exchange): void => {
    if (wantsPage(exchange.request)) void showNotFound(exchange);
    else sendNowhere(exchange);
  };
  const routerOptions = { ignoreTrailingSlash: false, maxParamLength: PATH_PART_LENGTH_MAX };
  const app = fastify({
    logger: false,
    routerOptions,
    // The framework loads the libraries of its own compilers at every start, unless others are named here.
    schemaController: { compilersFactory: { buildValidator: buildNone, buildSerializer: buildNone } },
    // The router cannot decode the address, or a segment is too long. Such an address leads nowhere: 404, not 400.
    frameworkErrors: (_fault, request, reply) => {
      reply.hijack();
      answerNowhere(exchangeOf(exchanges, request));
    },
  });
  readBodies(app, addressOf, (request) => exchangeOf(exchanges, request));
  app.setValidatorCompiler(readRequest);
  app.setSerializerCompiler(checkAnswer);
  app.addHook('onSend', async (_request, reply, payload) => {
    if (payload === '') reply.removeHeader('content-type'); // An empty answer has no type.
  });
  app.setErrorHandler((fault: FastifyError | Refused, request, reply) => {
    reply.hijack();
    const exchange = exchangeOf(exchanges, request);
    const away = awayRefusal(fault);
    if (away !== undefined)
      log.error({ correlationId: exchange.correlationId, fault: describeFault(fault) }, 'a report lacks a cell');
    const refusal = fault instanceof Refused ? fault.refusal : (away ?? refusalOf(fault));
    if (refusal === undefined) sendFault(exchange, log, fault, request.routeOptions.url);
    else sendRefusal(exchange, refusal);
  });
  app.decorateRequest('signedIn', undefined);
  app.decorateRequest('onlyApp', undefined);
  app.decorateRequest('tester', undefined);
  addChecks(app, options, sendUnknown);
  app.addHook('preValidation', async ({ params, query }) => {
    granted(unstorableText(params) ?? unstorableText(query)); // `json-body.ts` checks bodies.
  });
  /** Answers at once: a body that is sent to no route is neither read nor parsed. */
  function sendUnknown(request: FastifyRequest, reply: FastifyReply): void {
    reply.hijack();
    const exchange = exchangeOf(exchanges, request);
    // The address may exist for another method. That is a 405 with the methods that it has, not a 404.
    const allowed = METHODS.filter((method) => app.findRoute({ method, url: exchange.path }) !== null);
    if (allowed.length === 0) answerNowhere(exchange);
    else sendNotAllowed(exchange, allowed);
  }
  app.setNotFoundHandler(sendUnknown);
  const routes = routesOf(app);
  addRoutes(app.withTypeProvider<SchemaTypes>());
  addReference(app, routes, publicUrl);
  await app.ready();
  return {
    handle: (exchange) => {
      exchanges.set(exchange.request, exchange);
      app.routing(exchange.request, exchange.response);
    },
    nameOf: (method, path) => nameIn(app, method, path),
    close: async () => app.close(),
  };
}

/** The routes that are added from here on, for the document of the API. Throws where one has no rule of access. */
function routesOf(
  app: Pick<FastifyInstance<Server, IncomingMessage, ServerResponse>, 'addHook'>,
): readonly DescribedRoute[] {
  const routes: DescribedRoute[] = [];
  app.addHook('onRoute', (route) => {
    const described = describedRouteOf(route);
    if (described === undefined) return;
    const name = `${described.method} ${described.path}`;
    if (described.path.startsWith('/apps/{appId}')) leastRoleOf(name); // Or it throws.
    if (described.path.startsWith('/operator/')) operatorAccessOf(name);
    routes.push(described);
  });
  return routes;
}

function nameIn(app: Router, method: string, path: string): string | undefined {
  for (const one of [...METHODS.filter((known) => known === method), ...METHODS]) {
    const found = app.findRoute({ method: one, url: path });
    if (found !== null) return named(path, found.params);
  }
  return undefined;
}

/** A path with a name in place of each value. */
function named(path: string, params: Readonly<Record<string, string | undefined>>): string {
  const values = Object.entries(params);
  const nameOf = (segment: string) => values.find(([, value]) => value === segment || value === decoded(segment))?.[0];
  const shown = (segment: string) => {
    const name = nameOf(segment);
    return name === undefined ? segment : `:${name}`;
  };
  return path.split('/').map(shown).join('/');
}

/** The router has decoded it before, so it can be. */
function decoded(segment: string): string {
  return segment.includes('%') ? decodeURIComponent(segment) : segment;
}

/** The checks of every request, before anything is read, parsed or looked up: pace first, then the session (CP-11, AU-05). */
function addChecks(
  app: FastifyInstance<Server, IncomingMessage, ServerResponse>,
  rules: PlanesOptions,
  sendUnknown: (request: FastifyRequest, reply: FastifyReply) => void,
): void {
  const { findSession, findListenToken, findTestToken, addressOf, paces } = rules;
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404) return sendUnknown(request, reply); // Costs less than counting it would.
    granted(paces.addresses.take(addressOf(request.raw)));
    const { isPublic, isFeed, isForTests } = request.routeOptions.config;
    if (isPublic === true) return;
    const token = bearerTokenOf(request.headers.authorization) ?? '';
    request.tester = isForTests === true ? await findTestToken(token) : undefined;
    if (request.tester !== undefined) {
      const { account } = request.tester;
      granted(paces.accounts.take(account.accountId));
      granted(factorRefusal({ account }, String(request.routeOptions.url), rules));
      return;
    }
    const feed = isFeed === true ? await findListenToken(token) : undefined;
    request.onlyApp = feed?.appId;
    request.signedIn = granted(feed?.signedIn ?? (await findSession(token)) ?? noSession());
    granted(paces.accounts.take(request.signedIn.account.accountId));
    const route = routeNameOf(request);
    granted(factorRefusal(request.signedIn, String(request.routeOptions.url), rules));
    if (route.includes(' /operator/')) granted(operatorRefusal(request.signedIn, operatorAccessOf(route), rules));
  });
}

function noSession(): Refusal<'UNAUTHORIZED'> {
  return refuse(
    'UNAUTHORIZED',
    'Send a valid session token: `authorization: Bearer <session token>`. `POST /sessions` gives you one.',
  );
}

/** The route of a request as the tables of roles name it, such as `GET /apps/{appId}`. */
export function routeNameOf({ routeOptions: { method, url } }: FastifyRequest): string {
  return `${method === 'HEAD' ? 'GET' : String(method)} ${String(url).replaceAll(/:(\w+)/g, '{$1}')}`;
}

/** The exchange that `handle` stored for a request. The framework knows only the request. */
function exchangeOf(exchanges: WeakMap<IncomingMessage, Exchange>, { raw }: FastifyRequest): Exchange {
  const exchange = exchanges.get(raw);
  if (exchange === undefined) throw new Error('A request did not come through `handle`.');
  return exchange;
}

/** Turns a fault of the framework into a refusal in our words; undefined if it is our own fault (500). */
function refusalOf(fault: FastifyError): Refusal | undefined {
  const isTheirs = fault.statusCode !== undefined && fault.statusCode >= 400 && fault.statusCode < 500;
  return isTheirs ? notJson() : undefined;
}

/** A browser that opens an address: it asks for a page by name, and has no token. Clients that take anything are not browsers. */
function wantsPage({ method, headers }: IncomingMessage): boolean {
  const isOpening = method === 'GET' || method === 'HEAD';
  return isOpening && headers.authorization === undefined && headers.accept?.includes('text/html') === true;
}
