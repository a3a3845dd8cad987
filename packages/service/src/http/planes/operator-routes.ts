import type { FastifyRequest } from 'fastify';
import { actOf, type OperatorPlane } from '#http/planes/operator-plane.ts';
import type { Plane } from '#http/planes/planes.ts';
import { addRoute, type Answer, type Asked, type Route } from '#http/planes/routes.ts';
import type { Act } from '#operator/acts/act.ts';

/** Adds routes of operators to the plane. */
export interface OperatorRoutes {
  /** A route that shows something and changes nothing. */
  readonly show: <const One extends Route, Value>(
    path: `/operator/${string}`,
    route: One,
    find: (asked: Asked<One>) => Answer<One, Value>,
  ) => void;
  /** A route that does something. Its act has the reason of the body or of the query, and is recorded in the audit trail. */
  readonly act: <const One extends Route, Value>(
    name: `${'POST' | 'PUT' | 'PATCH' | 'DELETE'} /operator/${string}`,
    route: One,
    run: (act: Act, asked: Asked<One>) => Answer<One, Value>,
  ) => void;
}

export function operatorRoutes(plane: Plane, operator: OperatorPlane): OperatorRoutes {
  return {
    show: (path, route, find) => addRoute(plane, `GET ${path}`, route, find),
    act: (name, route, run) =>
      addRoute(plane, name, route, (asked) => run(actOf(operator, asked.request, reasonIn(asked.request)), asked)),
  };
}

interface Reasoned {
  readonly reason?: string;
}

/** The reason is in the query where the body is an entry of the catalogue, or where there is none. */
function reasonIn({ body, query }: FastifyRequest): string | undefined {
  const { reason } = { ...(query as Reasoned), ...(body as Reasoned | undefined) };
  return reason;
}
