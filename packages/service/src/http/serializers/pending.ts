import type { PendingAct } from '#operator/acts/pending-act.ts';

/** An act that waits for a second person, or did, with the names that answers have for its persons. */
export function shownPending({ requestedEmail: requestedBy, decision, ...act }: PendingAct) {
  const { email: decidedBy, atMs: decidedAtMs, reason: decidedReason } = decision ?? {};
  return { ...act, requestedBy, decidedBy, decidedAtMs, decidedReason };
}
