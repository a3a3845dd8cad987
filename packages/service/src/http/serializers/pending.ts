import type { PendingAct } from '#operator/acts/pending-act.ts';

/** An act that waits for a second person, or did, with the names that answers have for its persons. */
export function shownPending(act: PendingAct) {
  const { pendingId, action, subject, amount, reason, before, after, state, requestedAtMs, expiresAtMs } = act;
  const { email: decidedBy, atMs: decidedAtMs, reason: decidedReason } = act.decision ?? {};
  const asked = { pendingId, action, subject, amount, reason, before, after, state };
  return {
    ...asked,
    requestedBy: act.requestedEmail,
    requestedAtMs,
    expiresAtMs,
    decidedBy,
    decidedAtMs,
    decidedReason,
  };
}
