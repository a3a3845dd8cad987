import { appParamsSchema } from '@purser/contract/control.ts';
import {
  activityPageSchema,
  auditListSchema,
  auditPageSchema,
  ownAuditPageSchema,
  signInListSchema,
} from '@purser/contract/operator.ts';
import { wireOf } from '#http/serializers/wire-of.ts';
import { type ControlPlane, callerOf, ownApp } from '#http/planes/control-plane.ts';
import type { Plane } from '#http/planes/planes.ts';

/**
 * Routes by which owners read their own acts and sign-ins, and members the acts of all members on their app (CP-09). Sign-ins
 * and other acts of another account are never among them.
 */
export function addTrailRoutes(plane: Plane, control: ControlPlane): void {
  const { audit } = control;

  plane.get(
    '/apps/:appId/activity',
    { schema: { params: appParamsSchema, querystring: activityPageSchema, response: { 200: auditListSchema } } },
    async (request) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      const { action, before, limit } = request.query;
      return wireOf(auditListSchema, await audit.pageOfApp({ appId, action }, { before, most: limit }));
    },
  );

  plane.get(
    '/accounts/current/audit',
    { schema: { querystring: ownAuditPageSchema, response: { 200: auditListSchema } } },
    async (request) => {
      const { accountId } = callerOf(request).account;
      const { appId, before, limit } = request.query;
      return wireOf(auditListSchema, await audit.pageOf({ accountId, appId }, { before, most: limit }));
    },
  );

  plane.get(
    '/accounts/current/sign-ins',
    { schema: { querystring: auditPageSchema, response: { 200: signInListSchema } } },
    async (request) => {
      const { before, limit } = request.query;
      const { accountId: who } = callerOf(request).account;
      return wireOf(signInListSchema, await audit.signIns({ who, before, most: limit }));
    },
  );
}
