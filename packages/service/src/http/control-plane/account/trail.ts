import { appParamsSchema } from '@purser/contract/control.ts';
import {
  activityPageSchema,
  auditListSchema,
  auditPageSchema,
  ownAuditPageSchema,
  signInListSchema,
} from '@purser/contract/trail.ts';
import { type ControlPlane, callerOf } from '#http/planes/control-plane.ts';
import { ownerRoutes } from '#http/planes/owner-routes.ts';
import type { Plane } from '#http/planes/planes.ts';

/**
 * Routes by which owners read their own acts and sign-ins, and members the acts of all members on their app (CP-09). Sign-ins
 * and other acts of another account are never among them.
 */
export function addTrailRoutes(plane: Plane, control: ControlPlane): void {
  const routes = ownerRoutes(plane, control);
  const { audit } = control;

  routes.ofApp(
    'GET /apps/:appId/activity',
    { params: appParamsSchema, query: activityPageSchema, answer: auditListSchema },
    ({ appId }, { query: { action, before, limit } }) => audit.pageOfApp({ appId, action }, { before, most: limit }),
  );

  routes.add(
    'GET /accounts/current/audit',
    { query: ownAuditPageSchema, answer: auditListSchema },
    ({ request, query: { appId, before, limit } }) => {
      const { accountId } = callerOf(request).account;
      return audit.pageOf({ accountId, appId }, { before, most: limit });
    },
  );

  routes.add(
    'GET /accounts/current/sign-ins',
    { query: auditPageSchema, answer: signInListSchema },
    ({ request, query: { before, limit } }) =>
      audit.signIns({ who: callerOf(request).account.accountId, before, most: limit }),
  );
}
