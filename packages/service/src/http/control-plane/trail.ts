import { auditListSchema, auditPageSchema, ownAuditPageSchema, signInListSchema } from '@purser/contract/operator.ts';
import { auditToWire, signInsToWire } from '#http/audit-to-wire.ts';
import { type ControlPlane, callerOf } from '#http/control-plane/control-plane.ts';
import type { Plane } from '#http/planes.ts';

/** Routes by which owners read their own acts and sign-ins (CP-09). Those of another account are never among them. */
export function addTrailRoutes(plane: Plane, { audit }: ControlPlane): void {
  plane.get(
    '/accounts/current/audit',
    { schema: { querystring: ownAuditPageSchema, response: { 200: auditListSchema } } },
    async (request) => {
      const { accountId } = callerOf(request).account;
      const { appId, before, limit } = request.query;
      return auditToWire(await audit.pageOf({ accountId, appId }, { before, most: limit }));
    },
  );

  plane.get(
    '/accounts/current/sign-ins',
    { schema: { querystring: auditPageSchema, response: { 200: signInListSchema } } },
    async (request) => {
      const { before, limit } = request.query;
      const { accountId: who } = callerOf(request).account;
      return signInsToWire(await audit.signIns({ who, before, most: limit }));
    },
  );
}
