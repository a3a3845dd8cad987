import type { IncomingMessage } from 'node:http';
import type { PendingSignIn } from '#developers/sign-in/second-step.ts';
import type { SignInPlace } from '#developers/sessions/open-session.ts';
import type { SignIn } from '#developers/sessions/session.ts';
import { accountToWire } from '#http/serializers/account-to-wire.ts';
import type { ControlPlane } from '#http/planes/control-plane.ts';
import { isoOf } from '#kernel/time/clock.ts';

/** A caller of the API. It keeps no cookie that makes it known. */
export function programOf({ addressOf }: Pick<ControlPlane, 'addressOf'>, raw: IncomingMessage): SignInPlace {
  return { from: addressOf(raw), device: undefined, isProgram: true };
}

/** A session with its token (200), or the answer that asks for the second factor first (202). */
export function signInToWire(signIn: SignIn | PendingSignIn) {
  if ('pendingToken' in signIn) {
    const { pendingToken: signInToken, expiresAtMs, methods } = signIn;
    const body = { signInToken, expiresAt: isoOf(expiresAtMs), methods: [...methods] };
    return { status: 202 as const, body };
  }
  return { status: 200 as const, body: sessionToWire(signIn) };
}

export function sessionToWire({ token: sessionToken, session: { sessionId, expiresAtMs }, account }: SignIn) {
  return { sessionToken, sessionId, expiresAt: isoOf(expiresAtMs), account: accountToWire(account) };
}
