import type { Queryable } from '#db/pool.ts';

/** One act of an operator. */
export interface AuditEntry {
  /** The account, `command-line`, or `settings` for the operator whom those name, `processor` for what came of a payment. */
  readonly actor: string;
  /** What was done, as `app.suspend`. */
  readonly action: string;
  /** What it was done to: an id, or an app and a user. Never an amount of somebody else, a secret or a prompt. */
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

/** Call in the transaction of the act, so that neither is there without the other. */
export async function insertAuditEntry(tx: Queryable, entry: AuditEntry): Promise<void> {
  await tx.query(`insert into audit.entries (actor, action, subject, reason) values ($1, $2, $3, $4)`, [
    entry.actor,
    entry.action,
    entry.subject,
    entry.reason ?? null,
  ]);
}

/** The newest first, those before an entry where one is given. */
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
