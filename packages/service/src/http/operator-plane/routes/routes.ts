import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pendingActSchema } from '@purser/contract/operator-pending.ts';
import { z } from 'zod';
import { actOf, type OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { shownPending } from '#http/serializers/pending.ts';
import { type Complete, wireOf } from '#http/serializers/wire-of.ts';
import type { Refusal } from '#kernel/faults/refusal.ts';
import type { Act } from '#operator/acts/act.ts';
import { PendingAct } from '#operator/acts/pending-act.ts';

/** What a route takes and answers, as schemas. They check requests, write answers and describe the route in the document. */
interface Parts {
  readonly params?: z.ZodObject;
  readonly query?: z.ZodType;
  readonly headers?: z.ZodType;
  readonly body?: z.ZodType;
  /** An act without an answer is answered with a 204. */
  readonly answer?: z.ZodType;
  /** The status of an act that was done. The default is 200. */
  readonly status?: 201;
  /** Whether an act above the amount for one person waits for a second one, and is then answered with a 202 (CP-07). */
  readonly mayWait?: true;
  /** Whether the body may have 1 MiB. */
  readonly isLarge?: true;
}

type Sent<Part> = Part extends z.ZodType ? z.output<Part> : undefined;

/** A request, read by the schemas of its route. */
interface Asked<Route extends Parts> {
  readonly params: Sent<Route['params']>;
  readonly query: Sent<Route['query']>;
  readonly headers: Sent<Route['headers']>;
  readonly body: Sent<Route['body']>;
  readonly reply: FastifyReply;
}

/**
 * What a handler returns: a value that has all fields of the answer, or a refusal. An act may have to wait instead. An answer that is
 * written already, as the catalogue is, goes out as it is.
 */
type Answer<Route extends Parts, Value> = Promise<
  Value & Complete<Route['answer'], Exclude<Value, Refusal | PendingAct | FastifyReply>>
>;

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Adds routes of operators to the plane, each described by its schemas. */
export interface OperatorRoutes {
  /** A route that shows something and changes nothing. */
  readonly show: <const Route extends Parts, Value>(
    path: `/operator/${string}`,
    route: Route,
    find: (asked: Asked<Route>) => Answer<Route, Value>,
  ) => void;
  /** A route that does something. Its act has the reason of the body or of the query, and is recorded in the audit trail. */
  readonly act: <const Route extends Parts, Value>(
    name: `${Exclude<Method, 'GET'>} /operator/${string}`,
    route: Route,
    run: (act: Act, asked: Asked<Route>) => Answer<Route, Value>,
  ) => void;
}

export function operatorRoutes(plane: Plane, operator: OperatorPlane): OperatorRoutes {
  return {
    show: (path, route, find) => add(plane, 'GET', path, route, (request, reply) => find(askedOf(request, reply))),
    act: (name, route, run) => {
      const [method, path] = name.split(' ') as [Method, string];
      add(plane, method, path, route, (request, reply) =>
        run(actOf(operator, request, reasonIn(request)), askedOf(request, reply)),
      );
    },
  };
}

function add(
  plane: Plane,
  method: Method,
  path: string,
  { answer, status, mayWait, isLarge, ...parts }: Parts,
  run: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
): void {
  const { query: querystring, ...others } = parts;
  const done = answer === undefined ? { 204: z.null() } : { [status ?? 200]: answer };
  // The handlers are typed by `Asked` and `Answer`, so the framework need not do it.
  (plane as unknown as FastifyInstance).route({
    method,
    url: path,
    ...(isLarge && { config: { isLarge } }),
    schema: {
      ...others,
      ...(querystring && { querystring }),
      response: { ...done, ...(mayWait && { 202: pendingActSchema }) },
    },
    handler: async (request, reply) => {
      const result = granted(await run(request, reply));
      if (result === reply) return reply;
      if (result instanceof PendingAct) return reply.code(202).send(wireOf(pendingActSchema, shownPending(result)));
      return answer === undefined ? reply.code(204).send(null) : reply.code(status ?? 200).send(wireOf(answer, result));
    },
  });
}

function askedOf<Route extends Parts>(request: FastifyRequest, reply: FastifyReply): Asked<Route> {
  const { params, query, headers, body } = request;
  return { params, query, headers, body, reply } as Asked<Route>;
}

/** The reason is in the query where the body is an entry of the catalogue, or where there is none. */
function reasonIn({ body, query }: FastifyRequest): string | undefined {
  const { reason } = { ...(query as Reasoned), ...(body as Reasoned | undefined) };
  return reason;
}

interface Reasoned {
  readonly reason?: string;
}
