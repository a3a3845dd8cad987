import type { IncomingMessage } from 'node:http';
import { signedInSchema } from '@purser/contract/control.ts';
import { pendingSignInSchema } from '@purser/contract/second-factor.ts';
import type { PendingSignIn } from '#developers/sign-in/second-step.ts';
import type { SignInPlace } from '#developers/sessions/open-session.ts';
import type { SignIn } from '#developers/sessions/session.ts';
import { shownAccount } from '#http/serializers/account.ts';
import { wireOf } from '#http/serializers/wire-of.ts';
import type { ControlPlane } from '#http/planes/control-plane.ts';

/** A caller of the API. It keeps no cookie that makes it known. */
export function programOf({ addressOf }: Pick<ControlPlane, 'addressOf'>, raw: IncomingMessage): SignInPlace {
  return { from: addressOf(raw), device: undefined, isProgram: true };
}

/** A session with its token (200), or the answer that asks for the second factor first (202). */
export function signInToWire(signIn: SignIn | PendingSignIn) {
  if (!('pendingToken' in signIn)) return { status: 200 as const, body: wireOf(signedInSchema, shownSignIn(signIn)) };
  const body = wireOf(pendingSignInSchema, { ...signIn, signInToken: signIn.pendingToken });
  return { status: 202 as const, body };
}

export function shownSignIn({ token: sessionToken, session, account }: SignIn) {
  return { ...session, sessionToken, account: shownAccount(account) };
}
