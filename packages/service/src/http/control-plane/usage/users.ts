import { appParamsSchema } from '@purser/contract/control.ts';
import {
  appUserDetailsSchema,
  appUserListSchema,
  appUserParamsSchema,
  appUsersQuerySchema,
} from '@purser/contract/users.ts';
import type { ControlPlane } from '#http/planes/control-plane.ts';
import { ownerRoutes } from '#http/planes/owner-routes.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import type { AppUser } from '#ledger/overview/app-users.ts';

/** Routes for the users of an app who have a connected wallet. */
export function addUserRoutes(plane: Plane, control: ControlPlane): void {
  const routes = ownerRoutes(plane, control);

  routes.ofApp(
    'GET /apps/:appId/users',
    { params: appParamsSchema, query: appUsersQuerySchema, answer: appUserListSchema },
    async ({ appId }, { query: { after, beginsWith, limit } }) => {
      const users = await control.appUsers.list(appId, { after, beginsWith, most: limit });
      const next = users.length === limit ? users.at(-1)?.userId : undefined;
      return { users: users.map(shownUser), next };
    },
  );

  routes.ofApp(
    'GET /apps/:appId/users/:userId',
    { params: appUserParamsSchema, answer: appUserDetailsSchema },
    async ({ appId }, { params }) => {
      const user = granted((await control.appUsers.find(appId, params.userId)) ?? noSuchUser());
      return { ...shownUser(user), spendCap: user.cap };
    },
  );
}

/** The refusal for a user who does not exist, and for one who has disconnected (WA-02). */
const noSuchUser = () => refuse('NOT_FOUND', 'This app has no user with this ID and a connected wallet.');

function shownUser<User extends AppUser>(user: User) {
  return { ...user, connectedSinceMs: user.connectedAtMs };
}
