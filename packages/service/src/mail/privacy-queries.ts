import { emailsOf, type Queryable } from '#db/pool/pool.ts';
import type { MessageOutcome } from '#mail/queries.ts';

interface KeptMessageRow {
  readonly subject: string;
  readonly created_at: Date;
  readonly outcome: MessageOutcome | null;
}

/** Mails to an address that are still kept, the newest first. Their texts are left out: they may contain codes. */
export async function selectMessagesTo(
  db: Queryable,
  recipient: string,
  most: number,
): Promise<readonly KeptMessageRow[]> {
  const { rows } = await db.query<KeptMessageRow>(
    `select subject, created_at, outcome from mail.messages where sealed_recipient = $1 order by message_id desc limit $2`,
    [emailsOf(db).seal(recipient), most],
  );
  return rows.map((row) => ({ ...row, subject: emailsOf(db).open(row.subject) }));
}

/** Deletes all mails to an address, also those that wait to be sent. */
export async function deleteMessagesTo(tx: Queryable, recipient: string): Promise<void> {
  await tx.query(`delete from mail.messages where sealed_recipient = $1`, [emailsOf(tx).seal(recipient)]);
}
