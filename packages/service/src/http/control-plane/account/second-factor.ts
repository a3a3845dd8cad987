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
import { z } from 'zod';
import type { Changer } from '#developers/factors/change.ts';
import { type ControlPlane, callerOf } from '#http/planes/control-plane.ts';
import { programOf, sessionToWire } from '#http/control-plane/account/sign-in-answer.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { isoOf } from '#kernel/time/clock.ts';

const EMPTY = z.null();

/** Routes for the second factor of an account (CP-06). */
export function addSecondFactorRoutes(plane: Plane, control: ControlPlane): void {
  const { accounts } = control;
  const { secondFactors } = accounts;
  const byOf = (request: FastifyRequest): Changer => ({
    signedIn: callerOf(request),
    from: control.addressOf(request.raw),
  });

  addStepRoutes(plane, control);

  plane.get(
    '/accounts/current/second-factor',
    { schema: { response: { 200: secondFactorSchema } } },
    async (request) => {
      const { authenticator, passkeys, recoveryCodesLeft } = await secondFactors.state(
        callerOf(request).account.accountId,
      );
      return {
        authenticator: authenticator === undefined ? null : momentsOf(authenticator),
        passkeys: passkeys.map((passkey) => ({ passkeyId: passkey.credentialId, ...momentsOf(passkey) })),
        recoveryCodesLeft,
      };
    },
  );

  plane.post(
    '/accounts/current/authenticator',
    { schema: { response: { 200: authenticatorOfferSchema } } },
    async (request) => granted(await secondFactors.offerAuthenticator(byOf(request))),
  );

  plane.put(
    '/accounts/current/authenticator',
    { schema: { body: addAuthenticatorSchema, response: { 200: authenticatorAddedSchema } } },
    async (request) => {
      const { recoveryCodes } = granted(
        await secondFactors.addAuthenticator(byOf(request), { enrolmentCode: undefined, ...request.body }),
      );
      return { recoveryCodes: recoveryCodes === undefined ? null : [...recoveryCodes] };
    },
  );

  plane.delete('/accounts/current/authenticator', { schema: { response: { 204: EMPTY } } }, async (request, reply) => {
    granted(await secondFactors.removeAuthenticator(byOf(request)));
    return reply.code(204).send(null);
  });

  plane.delete(
    '/accounts/current/passkeys/:passkeyId',
    { schema: { params: passkeyParamsSchema, response: { 204: EMPTY } } },
    async (request, reply) => {
      granted(await secondFactors.removePasskey(byOf(request), request.params.passkeyId));
      return reply.code(204).send(null);
    },
  );

  plane.post(
    '/accounts/current/recovery-codes',
    { schema: { response: { 201: recoveryCodesSchema } } },
    async (request, reply) => {
      const { recoveryCodes } = granted(await secondFactors.newRecoveryCodes(byOf(request)));
      return reply.code(201).send({ recoveryCodes: [...recoveryCodes] });
    },
  );
}

/** The second step of a sign-in, and the proof that changes of an account need. */
function addStepRoutes(plane: Plane, control: ControlPlane): void {
  const { accounts } = control;

  plane.post(
    '/accounts/current/second-factor/code',
    { schema: { response: { 202: EMPTY } } },
    async (request, reply) => {
      granted(
        await control.accounts.secondFactors.sendEnrolmentCode({
          signedIn: callerOf(request),
          from: control.addressOf(request.raw),
        }),
      );
      return reply.code(202).send(null);
    },
  );

  plane.post(
    '/pending-sign-ins/use',
    { config: { isPublic: true }, schema: { body: secondStepSchema, response: { 200: signedInSchema } } },
    async ({ body, raw }) => {
      const { signInToken: pendingToken, code } = body;
      const place = programOf(control, raw);
      return sessionToWire(granted(await accounts.finishSignIn({ pendingToken, code, place })));
    },
  );

  plane.post(
    '/sessions/current/proof',
    { schema: { body: proofSchema, response: { 204: EMPTY } } },
    async (request, reply) => {
      const { password, code } = request.body;
      const from = control.addressOf(request.raw);
      granted(await accounts.prove(callerOf(request), { password, code, from }));
      return reply.code(204).send(null);
    },
  );
}

function momentsOf({
  createdAtMs,
  lastUsedAtMs,
}: {
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | undefined;
}) {
  return { createdAt: isoOf(createdAtMs), lastUsedAt: lastUsedAtMs === undefined ? null : isoOf(lastUsedAtMs) };
}
