import type { FastifyRequest } from 'fastify';
import { actOf, type OperatorPlane } from '#http/planes/operator-plane.ts';
import type { Plane } from '#http/planes/planes.ts';
import { addRoute, type Answer, type Asked, type Route, type RouteName } from '#http/planes/routes.ts';
import type { Act } from '#operator/acts/act.ts';

/** A request of an operator. */
interface AskedAct<One extends Route> extends Asked<One> {
  /** Who acts, with the reason of the body or of the query. What is done is recorded with it in the audit trail. */
  readonly act: Act;
}

/** Gives what adds the routes of a table to the plane: what each one takes and answers is in the table, what it does is said here. */
export type OperatorRoutes = <const Table extends Readonly<Record<string, Route>>>(
  table: Table,
) => <Name extends keyof Table & RouteName, Value>(
  name: Name,
  run: (asked: AskedAct<Table[Name]>) => Answer<Table[Name], Value>,
) => void;

export function operatorRoutes(plane: Plane, operator: OperatorPlane): OperatorRoutes {
  return (table) => (name, run) =>
    addRoute(plane, name, table[name], (asked) => {
      const act = actOf(operator, asked.request, reasonIn(asked.request));
      return run({ ...asked, act });
    });
}

interface Reasoned {
  readonly reason?: string;
}

/** The reason is in the query where the body is an entry of the catalogue, or where there is none. */
function reasonIn({ body, query }: FastifyRequest): string | undefined {
  const { reason } = { ...(query as Reasoned), ...(body as Reasoned | undefined) };
  return reason;
}
