import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pendingActSchema } from '@purser/contract/operator-pending.ts';
import { z } from 'zod';
import { granted, type Plane } from '#http/planes/planes.ts';
import { shownPending } from '#http/serializers/pending.ts';
import { type Complete, wireOf } from '#http/serializers/wire-of.ts';
import type { Refusal } from '#kernel/faults/refusal.ts';
import { PendingAct } from '#operator/acts/pending-act.ts';

/** What a route takes and answers, as schemas. They check requests, write answers and describe the route in the document. */
export interface Route {
  readonly params?: z.ZodObject;
  readonly query?: z.ZodType;
  readonly headers?: z.ZodType;
  readonly body?: z.ZodType;
  /** Without it, the answer has no body. */
  readonly answer?: z.ZodType;
  /** The default is 200, and 204 without a body. */
  readonly status?: 201 | 202;
  /** Whether an act above the amount for one person waits for a second one, and is then answered with a 202 (CP-07). */
  readonly mayWait?: true;
  readonly config?: FastifyContextConfig;
}

type Sent<Part> = Part extends z.ZodType ? z.output<Part> : undefined;

/** A request, read by the schemas of its route. */
export interface Asked<One extends Route> {
  readonly params: Sent<One['params']>;
  readonly query: Sent<One['query']>;
  readonly headers: Sent<One['headers']>;
  readonly body: Sent<One['body']>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/**
 * What a handler returns: a value that has all fields of the answer, or a refusal. An act may have to wait instead. An answer that is
 * written already, as the catalogue is, goes out as it is.
 */
export type Answer<One extends Route, Value> = Promise<
  Value & Complete<One['answer'], Exclude<Value, Refusal | PendingAct | FastifyReply>>
>;

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
/** A route by its method and path, in which a part that varies is `{appId}` as in the tables of the contract, or `:appId`. */
export type RouteName = `${Method} /${string}`;

/** Adds a route to the plane, described by its schemas. */
export function addRoute<const One extends Route, Value>(
  plane: Plane,
  name: RouteName,
  route: One,
  run: (asked: Asked<One>) => Answer<One, Value>,
): void {
  const { answer, status, mayWait, config, query: querystring, ...parts }: Route = route;
  const [method, path] = name.split(' ') as [Method, string];
  const url = path.replaceAll(/\{(\w+)\}/g, ':$1');
  const code = status ?? (answer === undefined ? 204 : 200);
  const response = { [code]: answer ?? z.null(), ...(mayWait && { 202: pendingActSchema }) };
  // Handlers are typed by `Asked` and `Answer`, so the framework need not do it.
  (plane as unknown as FastifyInstance).route({
    method,
    url,
    ...(config && { config }),
    schema: { ...parts, ...(querystring && { querystring }), response },
    handler: async (request, reply) => {
      const { params, query, headers, body } = request;
      const result: unknown = granted(await run({ params, query, headers, body, request, reply } as Asked<One>));
      if (result === reply) return reply;
      if (result instanceof PendingAct) return reply.code(202).send(wireOf(pendingActSchema, shownPending(result)));
      return reply.code(code).send(answer === undefined ? null : wireOf(answer, result));
    },
  });
}
