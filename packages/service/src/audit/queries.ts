import type { Queryable } from '#db/pool.ts';

/** One act of an operator. */
export interface AuditEntry {
  /**
   * Who did it: an account, `command-line`, `settings` for the operator that the settings name, or `processor` for the
   * outcome of a payment.
   */
  readonly actor: string;
  /** What was done, such as `app.suspend`. */
  readonly action: string;
  /** What it was done to: an id, or an app and a user. Never an amount, a secret or a prompt. */
  readonly subject: string;
  readonly reason: string | undefined;
}

interface AuditRow {
  readonly entry_id: bigint;
  readonly at: Date;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly reason: string | null;
}

/** Adds an entry. Call it in the transaction of the act, so that neither is stored without the other. */
export async function insertAuditEntry(tx: Queryable, entry: AuditEntry): Promise<void> {
  await tx.query(`insert into audit.entries (actor, action, subject, reason) values ($1, $2, $3, $4)`, [
    entry.actor,
    entry.action,
    entry.subject,
    entry.reason ?? null,
  ]);
}

/** Lists entries, newest first, from the one before `page.before` when it is given. */
export async function selectAuditEntries(
  db: Queryable,
  page: { readonly before: bigint | undefined; readonly most: number },
): Promise<readonly AuditRow[]> {
  const { rows } = await db.query<AuditRow>(
    `select entry_id, at, actor, action, subject, reason from audit.entries
     where $1::bigint is null or entry_id < $1 order by entry_id desc limit $2`,
    [page.before ?? null, page.most],
  );
  return rows;
}
