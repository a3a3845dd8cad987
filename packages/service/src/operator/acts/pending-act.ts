import type { Facts } from '#audit/entry.ts';
import { type Micros, microsFromRow } from '#kernel/values/micros.ts';
import type { PendingRow, PendingState } from '#operator/acts/queries.ts';

/** An act that is too large for one person. It moves nothing until somebody else confirms it (CP-07). */
export class PendingAct {
  declare protected readonly nominal: true; // Keeps objects of the same shape from passing as pending acts.
  readonly pendingId: string;
  /** The action, as in the audit trail. */
  readonly action: string;
  /** An app and a user. */
  readonly subject: string;
  readonly amount: Micros;
  readonly reason: string;
  /** What it would have changed when it was asked for. */
  readonly before: Facts | undefined;
  readonly after: Facts | undefined;
  readonly state: PendingState;
  /** An account, and its e-mail at that time. */
  readonly requestedBy: string;
  readonly requestedEmail: string;
  readonly requestedAtMs: number;
  readonly expiresAtMs: number;
  /** Who confirmed or rejected it, when and why. Undefined while it waits, and when it has expired. */
  readonly decision: { readonly email: string; readonly atMs: number; readonly reason: string } | undefined;

  constructor(row: PendingRow) {
    this.pendingId = row.pending_id;
    this.action = row.action;
    this.subject = row.subject;
    this.amount = microsFromRow(row.amount_micros);
    this.reason = row.reason;
    this.before = row.before ?? undefined;
    this.after = row.after ?? undefined;
    this.state = row.state;
    this.requestedBy = row.requested_by;
    this.requestedEmail = row.requested_email;
    this.requestedAtMs = row.requested_at.getTime();
    this.expiresAtMs = row.expires_at.getTime();
    const { decided_at: at, decided_email: email, decided_reason: reason } = row;
    this.decision = at === null || email === null ? undefined : { email, atMs: at.getTime(), reason: reason ?? '' };
  }
}
