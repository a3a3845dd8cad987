import type { Pool } from '#db/pool/pool.ts';
import { type MessageOutcome, type MessageRow, selectMessage, selectMessages } from '#mail/queries.ts';

/** A message as the mailbox page of a development service shows it. */
export interface MailboxMessage {
  readonly messageId: bigint;
  readonly recipient: string;
  readonly subject: string;
  /** The text of the message. It is undefined once the text has been deleted. */
  readonly body: string | undefined;
  /** The HTML of the message. It is undefined once it has been deleted, and for a message without HTML. */
  readonly html: string | undefined;
  readonly atMs: number;
  /** How the message ended. It is undefined while the message waits. */
  readonly outcome: MessageOutcome | undefined;
}

/** Lets a developer read all mail of the service. */
export interface Mailbox {
  /** Messages, newest first, at most 100. */
  readonly list: () => Promise<readonly MailboxMessage[]>;
  readonly find: (messageId: bigint) => Promise<MailboxMessage | undefined>;
}

const LISTED_MAX = 100;

export function createMailbox(pool: Pool): Mailbox {
  return {
    list: async () => (await selectMessages(pool, LISTED_MAX)).map(messageOf),
    find: async (messageId) => {
      const row = await selectMessage(pool, messageId);
      return row === undefined ? undefined : messageOf(row);
    },
  };
}

function messageOf(row: MessageRow): MailboxMessage {
  return {
    messageId: row.message_id,
    recipient: row.recipient,
    subject: row.subject,
    body: row.body ?? undefined,
    html: row.html ?? undefined,
    atMs: row.created_at.getTime(),
    outcome: row.outcome ?? undefined,
  };
}
