import { isoOf } from '#kernel/time/clock.ts';
import { microsToWire } from '#kernel/values/micros.ts';
import type { PendingAct } from '#operator/acts/pending-act.ts';

/** An act that waits for a second person, or did. */
export function pendingToWire(act: PendingAct) {
  const { pendingId, action, subject, reason, state, decision } = act;
  return {
    pendingId,
    action,
    subject,
    amountMicros: microsToWire(act.amount),
    reason,
    before: act.before === undefined ? null : { ...act.before },
    after: act.after === undefined ? null : { ...act.after },
    state,
    requestedBy: act.requestedEmail,
    requestedAt: isoOf(act.requestedAtMs),
    expiresAt: isoOf(act.expiresAtMs),
    decidedBy: decision?.email ?? null,
    decidedAt: decision === undefined ? null : isoOf(decision.atMs),
    decidedReason: decision?.reason ?? null,
  };
}
