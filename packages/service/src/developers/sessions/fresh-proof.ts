import type { SignedIn } from '#developers/sessions/session.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

/**
 * Refuses an act that needs a fresh proof: one that a person who has found or stolen a session must not do (CP-06). The session
 * must have been opened, or proved again, within ten minutes.
 */
export function needsProof({ isProved, account }: SignedIn): Refusal<'FORBIDDEN'> | undefined {
  if (isProved) return undefined;
  if (account.isSso) {
    return refuse(
      'FORBIDDEN',
      'This needs a fresh proof that it is you. Open `/account/prove` in the browser that is signed in. It counts for ten minutes.',
    );
  }
  return refuse(
    'FORBIDDEN',
    'This needs a fresh proof that it is you. Send your password, and a code if you have a second factor, to `POST /sessions/current/proof`. It counts for ten minutes.',
  );
}
