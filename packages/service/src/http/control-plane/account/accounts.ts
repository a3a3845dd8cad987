import {
  accountSchema,
  changePasswordSchema,
  currentSessionSchema,
  registerSchema,
  requestResetSchema,
  resetPasswordSchema,
  sessionListSchema,
  sessionParamsSchema,
  signInSchema,
} from '@purser/contract/control.ts';
import { SIGN_IN_ANSWERS, verifyEmailSchema } from '@purser/contract/second-factor.ts';
import { z } from 'zod';
import { type ControlPlane, callerOf } from '#http/planes/control-plane.ts';
import { programOf, signInToWire } from '#http/control-plane/account/sign-in-answer.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { accountToWire } from '#http/serializers/account-to-wire.ts';
import { wireOf } from '#http/serializers/wire-of.ts';
import { refuse } from '#kernel/faults/refusal.ts';

const EMPTY = z.null();

/** Routes for accounts and passwords (CP-01). */
export function addAccountRoutes(plane: Plane, control: ControlPlane): void {
  const { accounts } = control;

  plane.post(
    '/accounts',
    { config: { isPublic: true }, schema: { body: registerSchema, response: { 201: accountSchema } } },
    async ({ body, raw }, reply) => {
      if (!control.isRegistrationOpen) {
        granted(refuse('FORBIDDEN', 'Only operators of this service create accounts. Ask one of them.'));
      }
      const from = control.addressOf(raw);
      const account = granted(await accounts.register({ ...body, name: body.name, role: 'owner', from }));
      return reply.code(201).send(accountToWire(account));
    },
  );

  plane.post(
    '/password-resets',
    { config: { isPublic: true }, schema: { body: requestResetSchema, response: { 202: EMPTY } } },
    async ({ body, raw }, reply) => {
      granted(await accounts.admitReset(control.addressOf(raw)));
      // In the background: the answer takes equally long for a known and an unknown e-mail.
      control.inBackground(accounts.requestReset(body.email));
      return reply.code(202).send(null);
    },
  );

  plane.post(
    '/password-resets/use',
    { config: { isPublic: true }, schema: { body: resetPasswordSchema, response: SIGN_IN_ANSWERS } },
    async ({ body, raw }, reply) => {
      const place = programOf(control, raw);
      const signIn = granted(await accounts.resetPassword(body.token, body.newPassword, place));
      const { status, body: answer } = signInToWire(signIn);
      return reply.code(status).send(answer);
    },
  );

  plane.post('/email-verifications', { schema: { response: { 202: EMPTY } } }, async (request, reply) => {
    granted(await accounts.sendVerification(callerOf(request).account));
    return reply.code(202).send(null);
  });

  plane.post(
    '/email-verifications/use',
    { schema: { body: verifyEmailSchema, response: { 204: EMPTY } } },
    async (request, reply) => {
      const { account } = callerOf(request);
      granted(await accounts.verifyEmail(account, request.body.token, control.addressOf(request.raw)));
      return reply.code(204).send(null);
    },
  );

  plane.put(
    '/accounts/current/password',
    { schema: { body: changePasswordSchema, response: { 204: EMPTY } } },
    async (request, reply) => {
      const from = control.addressOf(request.raw);
      granted(await accounts.changePassword(callerOf(request), { ...request.body, from }));
      return reply.code(204).send(null);
    },
  );
}

/** Routes for the sessions of an account (CP-01). */
export function addSessionRoutes(plane: Plane, control: ControlPlane): void {
  const { accounts, sessions } = control;

  plane.post(
    '/sessions',
    { config: { isPublic: true }, schema: { body: signInSchema, response: SIGN_IN_ANSWERS } },
    async ({ body, raw }, reply) => {
      const signIn = granted(await accounts.signIn({ ...body, ...programOf(control, raw) }));
      const { status, body: answer } = signInToWire(signIn);
      return reply.code(status).send(answer);
    },
  );

  plane.get('/sessions', { schema: { response: { 200: sessionListSchema } } }, async (request) => {
    const { account, session: current } = callerOf(request);
    const all = await sessions.list(account.accountId);
    const shown = all.map((one) => ({ ...one, current: one.sessionId === current.sessionId }));
    return wireOf(sessionListSchema, { sessions: shown });
  });

  plane.get('/sessions/current', { schema: { response: { 200: currentSessionSchema } } }, async (request) => {
    const { account, session } = callerOf(request);
    return wireOf(currentSessionSchema, { ...session, account: accountToWire(account) });
  });

  plane.delete(
    '/sessions/:sessionId',
    { schema: { params: sessionParamsSchema, response: { 204: EMPTY } } },
    async (request, reply) => {
      const signedIn = callerOf(request);
      const { account, session } = signedIn;
      const { sessionId } = request.params;
      if (sessionId === 'others') {
        await sessions.revokeOthers(signedIn);
        return reply.code(204).send(null);
      }
      // Ids are looked up among the caller's own sessions, so a foreign one is a 404 like one that does not exist.
      const revoked = sessionId === 'current' ? session.sessionId : sessionId;
      if (!(await sessions.revoke(account.accountId, revoked))) {
        granted(refuse('NOT_FOUND', 'You have no such session.'));
      }
      return reply.code(204).send(null);
    },
  );
}
