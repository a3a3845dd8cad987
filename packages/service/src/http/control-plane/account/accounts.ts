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
import { type ControlPlane, callerOf } from '#http/planes/control-plane.ts';
import { programOf, signInToWire } from '#http/control-plane/account/sign-in-answer.ts';
import { ownerRoutes } from '#http/planes/owner-routes.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { shownAccount } from '#http/serializers/account.ts';
import { refuse } from '#kernel/faults/refusal.ts';

/** Routes for accounts and passwords (CP-01). */
export function addAccountRoutes(plane: Plane, control: ControlPlane): void {
  const routes = ownerRoutes(plane, control);
  const { accounts } = control;

  routes.add(
    'POST /accounts',
    { config: { isPublic: true }, body: registerSchema, answer: accountSchema, status: 201 },
    async ({ body, request }) => {
      if (!control.isRegistrationOpen) {
        return refuse('FORBIDDEN', 'Only operators of this service create accounts. Ask one of them.');
      }
      const from = control.addressOf(request.raw);
      return shownAccount(granted(await accounts.register({ ...body, name: body.name, role: 'owner', from })));
    },
  );

  routes.add(
    'POST /password-resets',
    { config: { isPublic: true }, body: requestResetSchema, status: 202 },
    async ({ body, request }) => {
      granted(await accounts.admitReset(control.addressOf(request.raw)));
      // In the background: the answer takes equally long for a known and an unknown e-mail.
      control.inBackground(accounts.requestReset(body.email));
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

  routes.add('POST /email-verifications', { status: 202 }, ({ request }) =>
    accounts.sendVerification(callerOf(request).account),
  );

  routes.add('POST /email-verifications/use', { body: verifyEmailSchema }, ({ request, body: { token } }) =>
    accounts.verifyEmail(callerOf(request).account, token, control.addressOf(request.raw)),
  );

  routes.add('PUT /accounts/current/password', { body: changePasswordSchema }, ({ request, body }) =>
    accounts.changePassword(callerOf(request), { ...body, from: control.addressOf(request.raw) }),
  );
}

/** Routes for the sessions of an account (CP-01). */
export function addSessionRoutes(plane: Plane, control: ControlPlane): void {
  const routes = ownerRoutes(plane, control);
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

  routes.add('GET /sessions', { answer: sessionListSchema }, async ({ request }) => {
    const { account, session: current } = callerOf(request);
    const all = await sessions.list(account.accountId);
    return { sessions: all.map((one) => ({ ...one, current: one.sessionId === current.sessionId })) };
  });

  routes.add('GET /sessions/current', { answer: currentSessionSchema }, async ({ request }) => {
    const { account, session } = callerOf(request);
    return { ...session, account: shownAccount(account) };
  });

  routes.add('DELETE /sessions/:sessionId', { params: sessionParamsSchema }, async ({ request, params }) => {
    const signedIn = callerOf(request);
    const { account, session } = signedIn;
    if (params.sessionId === 'others') return sessions.revokeOthers(signedIn);
    // Ids are looked up among the caller's own sessions, so a foreign one is a 404 like one that does not exist.
    const revoked = params.sessionId === 'current' ? session.sessionId : params.sessionId;
    if (await sessions.revoke(account.accountId, revoked)) return undefined;
    return refuse('NOT_FOUND', 'You have no such session.');
  });
}
