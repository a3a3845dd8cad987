import { emailsOf, type Queryable } from '#db/pool/pool.ts';

interface NewMessage {
  /** One address. `insertMessage` throws for any text that a mail server could read as several. */
  readonly recipient: string;
  readonly subject: string;
  /** The message as plain text. */
  readonly body: string;
  /** The same text as HTML. */
  readonly html: string;
}

/** Nothing that could end a header or begin a second recipient. The database sees only sealed texts and cannot check them. */
const RECIPIENT = /^(?=.{1,254}$)[^\s\p{Cc}<>,;:"()[\]\\@]+@[^\s\p{Cc}<>,;:"()[\]\\@]+$/u;
const SUBJECT = /^\P{Cc}{1,200}$/u;

/** Puts a message into the outbox. Everything that says who it is for and what it says is sealed. */
export async function insertMessage(db: Queryable, { recipient, subject, body, html }: NewMessage): Promise<void> {
  if (!RECIPIENT.test(recipient)) throw new Error('A mail must go to one address.');
  if (!SUBJECT.test(subject)) throw new Error('The subject of a mail must be one line of 1 to 200 characters.');
  const { seal, sealText } = emailsOf(db);
  await db.query(`insert into mail.messages (sealed_recipient, subject, body, html) values ($1, $2, $3, $4)`, [
    seal(recipient),
    sealText(subject),
    sealText(body),
    sealText(html),
  ]);
}

/** Opens what is sealed of a message. A text that was deleted stays null. */
function opened<Row extends { subject: string; html: string | null; recipient: string; body: string | null }>(
  db: Queryable,
  row: Row,
): Row {
  const { open } = emailsOf(db);
  return {
    ...row,
    recipient: open(row.recipient),
    subject: open(row.subject),
    body: row.body === null ? null : open(row.body),
    html: row.html === null ? null : open(row.html),
  };
}

/** A message that this process has claimed and must send now. */
export interface DueMessage {
  readonly message_id: bigint;
  readonly message_key: string;
  readonly recipient: string;
  readonly subject: string;
  readonly body: string;
  /** The HTML of the message. It is null for a message without HTML. */
  readonly html: string | null;
  /** The number of attempts, this one included. */
  readonly tries: number;
}

/**
 * Starts an attempt at the message that has been due the longest. Moving its next attempt into the future (2, 4, 8 ... up to
 * 60 minutes) is also the lease that keeps other processes away. `skip locked` lets processes claim without waiting.
 */
export async function claimMessage(db: Queryable): Promise<DueMessage | undefined> {
  const { rows } = await db.query<DueMessage>(
    `update mail.messages m set
       tries = m.tries + 1,
       next_try_at = clock_timestamp() + least(60, 2 ^ least(m.tries + 1, 10)) * interval '1 minute'
     where m.message_id = (
       select w.message_id from mail.messages w
       where w.ended_at is null and w.next_try_at <= clock_timestamp()
         and w.created_at > clock_timestamp() - interval '1 day'
       order by w.next_try_at limit 1
       for update skip locked
     )
     returning m.message_id, m.message_key, m.sealed_recipient as recipient, m.subject, m.body, m.html, m.tries`,
  );
  return rows[0] && opened(db, rows[0]);
}

/** How a message ended: accepted by a server, refused for good, or given up after a day. */
export type MessageOutcome = 'taken' | 'refused' | 'given_up';

interface EndOfMessage {
  readonly messageId: bigint;
  readonly outcome: MessageOutcome;
  readonly keepsBody: boolean;
}

/** Records a message's outcome. A message that already has one stays as it is. */
export async function endMessage(db: Queryable, { messageId, outcome, keepsBody }: EndOfMessage): Promise<void> {
  await db.query(
    `update mail.messages set ended_at = clock_timestamp(), outcome = $2,
       body = case when $3 then body end, html = case when $3 then html end
     where message_id = $1 and ended_at is null`,
    [messageId, outcome, keepsBody],
  );
}

/** Rows for each statement of a tidying pass, so that none of them locks many rows at once. */
const TIDIED_MAX = 1_000;

/**
 * Gives up messages that no server accepted within a day, and deletes those that are `keptDays` old (0: none). Returns how many were
 * given up.
 */
export async function tidyMessages(
  db: Queryable,
  { keepsBodies, keptDays }: { readonly keepsBodies: boolean; readonly keptDays: number },
): Promise<number> {
  const { rowCount } = await db.query(
    `update mail.messages set ended_at = clock_timestamp(), outcome = 'given_up',
       body = case when $1 then body end, html = case when $1 then html end
     where message_id in (
       select message_id from mail.messages
       where ended_at is null and created_at <= clock_timestamp() - interval '1 day'
       order by created_at limit $2
       for update skip locked
     )`,
    [keepsBodies, TIDIED_MAX],
  );
  if (keptDays === 0) return rowCount ?? 0;
  await db.query(
    `delete from mail.messages where message_id in (
       select message_id from mail.messages where created_at < clock_timestamp() - $2 * interval '1 day'
       order by created_at limit $1
       for update skip locked
     )`,
    [TIDIED_MAX, keptDays],
  );
  return rowCount ?? 0;
}

/** A message as the mailbox page shows it. */
export interface MessageRow {
  readonly message_id: bigint;
  readonly recipient: string;
  readonly subject: string;
  readonly body: string | null;
  readonly html: string | null;
  readonly created_at: Date;
  readonly outcome: MessageOutcome | null;
}

/** Lists messages, newest first. */
export async function selectMessages(db: Queryable, most: number): Promise<readonly MessageRow[]> {
  const { rows } = await db.query<MessageRow>(
    `select message_id, sealed_recipient as recipient, subject, body, html, created_at, outcome from mail.messages
     order by message_id desc limit $1`,
    [most],
  );
  return rows.map((row) => opened(db, row));
}

export async function selectMessage(db: Queryable, messageId: bigint): Promise<MessageRow | undefined> {
  const { rows } = await db.query<MessageRow>(
    `select message_id, sealed_recipient as recipient, subject, body, html, created_at, outcome from mail.messages where message_id = $1`,
    [messageId],
  );
  return rows[0] && opened(db, rows[0]);
}

/** Messages that no server has taken yet, at most so many, and for how many seconds the oldest has waited. */
export async function selectWaitingMail(
  db: Queryable,
  most: number,
): Promise<{ readonly waiting: number; readonly oldest_seconds: number }> {
  const { rows } = await db.query<{ waiting: number; oldest_seconds: number }>(
    `select count(*)::int as waiting,
       coalesce(extract(epoch from clock_timestamp() - min(created_at)), 0)::float8 as oldest_seconds
     from (select created_at from mail.messages where ended_at is null order by next_try_at limit $1) as waiting`,
    [most],
  );
  return rows[0] ?? { waiting: 0, oldest_seconds: 0 };
}

/** Messages that have waited for more than ten minutes, and those of the last day that were refused or given up. At most 1,000 of each. */
export async function selectMailTrouble(
  db: Queryable,
): Promise<{ readonly waitingLong: number; readonly failedOfDay: number }> {
  const { rows } = await db.query<{ waiting_long: number; failed_of_day: number }>(
    `select
       (select count(*)::int from (select from mail.messages
         where ended_at is null and created_at < clock_timestamp() - interval '10 minutes' limit 1000) w) as waiting_long,
       (select count(*)::int from (select from mail.messages
         where created_at > clock_timestamp() - interval '2 days' and ended_at > clock_timestamp() - interval '1 day'
           and outcome in ('refused', 'given_up') limit 1000) f) as failed_of_day`,
  );
  const row = rows[0];
  return { waitingLong: row?.waiting_long ?? 0, failedOfDay: row?.failed_of_day ?? 0 };
}
