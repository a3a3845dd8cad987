import type { Queryable } from '#db/pool.ts';

interface Message {
  readonly recipient: string;
  readonly subject: string;
  /** Plain text. */
  readonly body: string;
}

export async function insertMessage(db: Queryable, { recipient, subject, body }: Message): Promise<void> {
  await db.query(`insert into mail.messages (recipient, subject, body) values ($1, $2, $3)`, [
    recipient,
    subject,
    body,
  ]);
}
