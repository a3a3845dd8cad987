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
import { z } from 'zod';
import { appToWire } from '#http/control-plane/apps/apps.ts';
import { type ControlPlane, callerOf, noSuchApp, ownApp, ownerOf } from '#http/planes/control-plane.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { wireOf } from '#http/serializers/wire-of.ts';
import { refuse } from '#kernel/faults/refusal.ts';

const EMPTY = z.null();
const MEMBER = '/apps/:appId/team/:accountId';
const noSuchMember = () => refuse('NOT_FOUND', 'This app has no such member.');

/** Routes for the members of an app, and for invitations (AU-06). */
export function addTeamRoutes(plane: Plane, control: ControlPlane): void {
  const { teams } = control;

  plane.get(
    '/apps/:appId/team',
    { schema: { params: appParamsSchema, response: { 200: teamSchema } } },
    async (request) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      return wireOf(teamSchema, await teams.list(appId));
    },
  );

  plane.post(
    '/apps/:appId/invitations',
    { schema: { params: appParamsSchema, body: inviteSchema, response: { 201: invitationSchema } } },
    async (request, reply) => {
      const app = await ownApp(control, request, request.params.appId);
      const invitation = granted(await teams.invite(ownerOf(control, request), app, request.body));
      return reply.code(201).send(wireOf(invitationSchema, invitation));
    },
  );

  plane.delete(
    '/apps/:appId/invitations/:invitationId',
    { schema: { params: invitationParamsSchema, response: { 204: EMPTY } } },
    async (request, reply) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      const isThere = await teams.withdraw(ownerOf(control, request), appId, request.params.invitationId);
      if (!isThere) granted(refuse('NOT_FOUND', 'This app has no such invitation.'));
      return reply.code(204).send(null);
    },
  );

  addMemberRoutes(plane, control);
}

function addMemberRoutes(plane: Plane, control: ControlPlane): void {
  const { teams, apps } = control;

  plane.patch(
    MEMBER,
    { schema: { params: memberParamsSchema, body: changeMemberSchema, response: { 200: memberSchema } } },
    async (request) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      const change = { accountId: request.params.accountId, role: request.body.role };
      const changed = await teams.changeRole(ownerOf(control, request), appId, change);
      return wireOf(memberSchema, granted(changed ?? noSuchMember()));
    },
  );

  plane.delete(MEMBER, { schema: { params: memberParamsSchema, response: { 204: EMPTY } } }, async (request, reply) => {
    const { appId } = await ownApp(control, request, request.params.appId);
    const isThere = granted(await teams.remove(ownerOf(control, request), appId, request.params.accountId));
    if (!isThere) granted(noSuchMember());
    return reply.code(204).send(null);
  });

  plane.post(
    '/apps/:appId/leave',
    { schema: { params: appParamsSchema, response: { 204: EMPTY } } },
    async (request, reply) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      const owner = ownerOf(control, request);
      granted(await teams.remove(owner, appId, owner.accountId));
      return reply.code(204).send(null);
    },
  );

  plane.post(
    '/invitations/accept',
    { schema: { body: acceptInvitationSchema, response: { 200: appSchema } } },
    async (request) => {
      const signedIn = callerOf(request);
      const { appId } = granted(await teams.accept(signedIn, request.body.token, control.addressOf(request.raw)));
      const { app, role } = granted((await apps.membership(signedIn.account.accountId, appId)) ?? noSuchApp());
      return appToWire({ ...app, role });
    },
  );
}
