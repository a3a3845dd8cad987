import { appParamsSchema, appSchema } from '@purser/contract/control.ts';
import {
  acceptInvitationSchema,
  changeMemberSchema,
  invitationParamsSchema,
  invitationSchema,
  inviteSchema,
  memberParamsSchema,
  memberSchema,
  teamSchema,
} from '@purser/contract/team.ts';
import { type ControlPlane, callerOf, noSuchApp } from '#http/planes/control-plane.ts';
import { ownerRoutes } from '#http/planes/owner-routes.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { refuse } from '#kernel/faults/refusal.ts';

const MEMBER = '/apps/:appId/team/:accountId';
const noSuchMember = () => refuse('NOT_FOUND', 'This app has no such member.');

/** Routes for the members of an app, and for invitations (AU-06). */
export function addTeamRoutes(plane: Plane, control: ControlPlane): void {
  const routes = ownerRoutes(plane, control);
  const { teams, apps } = control;

  routes.ofApp('GET /apps/:appId/team', { params: appParamsSchema, answer: teamSchema }, ({ appId }) =>
    teams.list(appId),
  );

  routes.ofApp(
    'POST /apps/:appId/invitations',
    { params: appParamsSchema, body: inviteSchema, answer: invitationSchema, status: 201 },
    (app, { body, by }) => teams.invite(by, app, body),
  );

  routes.ofApp(
    'DELETE /apps/:appId/invitations/:invitationId',
    { params: invitationParamsSchema },
    async ({ appId }, { params, by }) => {
      const isThere = await teams.withdraw(by, appId, params.invitationId);
      return isThere ? undefined : refuse('NOT_FOUND', 'This app has no such invitation.');
    },
  );

  routes.ofApp(
    `PATCH ${MEMBER}`,
    { params: memberParamsSchema, body: changeMemberSchema, answer: memberSchema },
    async ({ appId }, { params: { accountId }, body: { role }, by }) =>
      (await teams.changeRole(by, appId, { accountId, role })) ?? noSuchMember(),
  );

  routes.ofApp(`DELETE ${MEMBER}`, { params: memberParamsSchema }, async ({ appId }, { params, by }) => {
    const isThere = granted(await teams.remove(by, appId, params.accountId));
    return isThere ? undefined : noSuchMember();
  });

  routes.ofApp('POST /apps/:appId/leave', { params: appParamsSchema }, ({ appId }, { by }) =>
    teams.remove(by, appId, by.accountId),
  );

  routes.add(
    'POST /invitations/accept',
    { body: acceptInvitationSchema, answer: appSchema },
    async ({ body, request }) => {
      const signedIn = callerOf(request);
      const { appId } = granted(await teams.accept(signedIn, body.token, control.addressOf(request.raw)));
      const { app, role } = granted((await apps.membership(signedIn.account.accountId, appId)) ?? noSuchApp());
      return { ...app, role };
    },
  );
}
