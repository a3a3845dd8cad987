import { signedInSchema } from '@purser/contract/control.ts';
import {
  addAuthenticatorSchema,
  authenticatorAddedSchema,
  authenticatorOfferSchema,
  passkeyParamsSchema,
  proofSchema,
  recoveryCodesSchema,
  secondFactorSchema,
  secondStepSchema,
} from '@purser/contract/second-factor.ts';
import type { FastifyRequest } from 'fastify';
import type { Changer } from '#developers/factors/change.ts';
import { type ControlPlane, callerOf } from '#http/planes/control-plane.ts';
import { programOf, shownSignIn } from '#http/control-plane/account/sign-in-answer.ts';
import { ownerRoutes } from '#http/planes/owner-routes.ts';
import { granted, type Plane } from '#http/planes/planes.ts';

/** Routes for the second factor of an account (CP-06). */
export function addSecondFactorRoutes(plane: Plane, control: ControlPlane): void {
  const routes = ownerRoutes(plane, control);
  const { secondFactors } = control.accounts;
  const byOf = (request: FastifyRequest): Changer => ({
    signedIn: callerOf(request),
    from: control.addressOf(request.raw),
  });

  routes.add('POST /accounts/current/second-factor/code', { status: 202 }, ({ request }) =>
    secondFactors.sendEnrolmentCode(byOf(request)),
  );

  addStepRoutes(plane, control);

  routes.add('GET /accounts/current/second-factor', { answer: secondFactorSchema }, async ({ request }) => {
    const state = await secondFactors.state(callerOf(request).account.accountId);
    return { ...state, passkeys: state.passkeys.map((one) => ({ ...one, passkeyId: one.credentialId })) };
  });

  routes.add('POST /accounts/current/authenticator', { answer: authenticatorOfferSchema }, ({ request }) =>
    secondFactors.offerAuthenticator(byOf(request)),
  );

  routes.add(
    'PUT /accounts/current/authenticator',
    { body: addAuthenticatorSchema, answer: authenticatorAddedSchema },
    ({ request, body }) => secondFactors.addAuthenticator(byOf(request), { enrolmentCode: undefined, ...body }),
  );

  routes.add('DELETE /accounts/current/authenticator', {}, ({ request }) =>
    secondFactors.removeAuthenticator(byOf(request)),
  );

  routes.add('DELETE /accounts/current/passkeys/:passkeyId', { params: passkeyParamsSchema }, ({ request, params }) =>
    secondFactors.removePasskey(byOf(request), params.passkeyId),
  );

  routes.add('POST /accounts/current/recovery-codes', { answer: recoveryCodesSchema, status: 201 }, ({ request }) =>
    secondFactors.newRecoveryCodes(byOf(request)),
  );
}

/** The second step of a sign-in, and the proof that changes of an account need. */
function addStepRoutes(plane: Plane, control: ControlPlane): void {
  const routes = ownerRoutes(plane, control);
  const { accounts } = control;

  routes.add(
    'POST /pending-sign-ins/use',
    { config: { isPublic: true }, body: secondStepSchema, answer: signedInSchema },
    async ({ request, body: { signInToken: pendingToken, code } }) => {
      const place = programOf(control, request.raw);
      return shownSignIn(granted(await accounts.finishSignIn({ pendingToken, code, place })));
    },
  );

  routes.add('POST /sessions/current/proof', { body: proofSchema }, ({ request, body: { password, code } }) =>
    accounts.prove(callerOf(request), { password, code, from: control.addressOf(request.raw) }),
  );
}
