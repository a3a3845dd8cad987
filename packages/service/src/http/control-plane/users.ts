import { appParamsSchema } from '@purser/contract/control.ts';
import { appUserListSchema, appUsersQuerySchema } from '@purser/contract/users.ts';
import { type ControlPlane, ownApp } from '#http/control-plane/control-plane.ts';
import type { Plane } from '#http/planes.ts';
import { isoOf } from '#kernel/clock.ts';
import { microsToWire } from '#kernel/micros.ts';

/** The route for the users of an app who have a connected wallet. */
export function addUserRoutes(plane: Plane, control: ControlPlane): void {
  plane.get(
    '/apps/:appId/users',
    { schema: { params: appParamsSchema, querystring: appUsersQuerySchema, response: { 200: appUserListSchema } } },
    async (request) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      const { after, beginsWith, limit } = request.query;
      const users = await control.appUsers.list(appId, { after, beginsWith, most: limit });
      const next = users.length === limit ? (users.at(-1)?.userId ?? null) : null;
      return {
        users: users.map(({ userId, connectedAtMs, spentThisMonth, isCapReached }) => ({
          userId,
          connectedSince: isoOf(connectedAtMs),
          spentThisMonthMicros: microsToWire(spentThisMonth),
          capReached: isCapReached,
        })),
        next,
      };
    },
  );
}
