import { appParamsSchema } from '@purser/contract/control.ts';
import {
  appUserDetailsSchema,
  appUserListSchema,
  appUserParamsSchema,
  appUsersQuerySchema,
} from '@purser/contract/users.ts';
import { type ControlPlane, ownApp } from '#http/planes/control-plane.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { wireOf } from '#http/serializers/wire-of.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import type { AppUser } from '#ledger/overview/app-users.ts';

/** Routes for the users of an app who have a connected wallet. */
export function addUserRoutes(plane: Plane, control: ControlPlane): void {
  plane.get(
    '/apps/:appId/users',
    { schema: { params: appParamsSchema, querystring: appUsersQuerySchema, response: { 200: appUserListSchema } } },
    async (request) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      const { after, beginsWith, limit } = request.query;
      const users = await control.appUsers.list(appId, { after, beginsWith, most: limit });
      const next = users.length === limit ? (users.at(-1)?.userId ?? null) : null;
      return wireOf(appUserListSchema, { users: users.map(shownUser), next });
    },
  );

  plane.get(
    '/apps/:appId/users/:userId',
    { schema: { params: appUserParamsSchema, response: { 200: appUserDetailsSchema } } },
    async (request) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      const user = granted((await control.appUsers.find(appId, request.params.userId)) ?? noSuchUser());
      return wireOf(appUserDetailsSchema, { ...shownUser(user), spendCap: user.cap });
    },
  );
}

/** The refusal for a user who does not exist, and for one who has disconnected (WA-02). */
const noSuchUser = () => refuse('NOT_FOUND', 'This app has no user with this ID and a connected wallet.');

function shownUser<User extends AppUser>(user: User) {
  return { ...user, connectedSinceMs: user.connectedAtMs };
}
