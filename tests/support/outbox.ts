// The outbox on a real database, senders with real SMTP, and messages for it.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { readConfig } from '../../packages/service/src/app/settings/config.ts';
import { createPool, type Pool } from '../../packages/service/src/db/pool/pool.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { startOutbox } from '../../packages/service/src/mail/outbox.ts';
import { insertMessage } from '../../packages/service/src/mail/queries.ts';
import { createSmtpSender, type SendMail } from '../../packages/service/src/mail/smtp.ts';
import { createTestDatabase, mailsTo, sealedEmail, setMails, type TestDatabase } from './database.ts';
import { type MailServer, startMailServer } from './mail-server.ts';
import { sql } from './sql.ts';
import { waitUntil } from './wait-until.ts';

/** The secret is a part of every posted message. */
export const SECRET = 'the-token-of-the-reader';
export const PERIOD_MS = 20;
const FROM = 'Purser <purser@example.test>';

interface MessageState {
  readonly tries: number;
  readonly outcome: string | null;
  readonly body: string | null;
  readonly html: string | null;
  /** Seconds until the next attempt. */
  readonly waits: number;
}

/** The stage of a test file about the outbox. It ends with the file, and then no secret may be in the log. */
export async function setOutboxStage() {
  const database = await createTestDatabase();
  const pool = createPool({
    url: database.url,
    role: 'live',
    connectionsMax: 8,
    log: createLog('silent'),
    emails: database.owner.emails,
  });
  const lines: string[] = [];
  const log = createLog('debug', { write: (line) => void lines.push(line) });
  const logged = (text: string): boolean => lines.some((line) => line.includes(text));
  const servers: MailServer[] = [];
  after(async () => {
    for (const server of servers) await server.close();
    await pool.end();
    await database.close();
    for (const word of [SECRET, 'reader-', 'Not this one']) assert.ok(!logged(word), `ER-03 the log holds ${word}`);
  });
  let readers = 0;
  return {
    /** Acts as the service. */
    pool,
    log,
    /** Returns true if a line of the log contains this. */
    logged,
    /** One that ends with the file. */
    mailServer: async (options?: Parameters<typeof startMailServer>[0]) => {
      const server = await startMailServer(options);
      servers.push(server);
      return server;
    },
    /** Runs an outbox for as long as `work` does. */
    withOutbox: async (
      send: SendMail,
      work: () => Promise<unknown>,
      { on = pool, keepsBodies = false }: { readonly on?: Pool; readonly keepsBodies?: boolean } = {},
    ) => {
      const outbox = startOutbox({ pool: on, send, keepsBodies, keptDays: 7, log, periodMs: PERIOD_MS });
      try {
        await work();
      } finally {
        await outbox.stop();
      }
    },
    /** A message to a person that no other test writes to. Returns the recipient. */
    post: async (subject = 'A subject') => {
      const recipient = `reader-${(readers += 1)}@example.test`;
      await insertMessage(pool, { recipient, subject, body: `Here: ${SECRET}\n`, html: `<p>Here: ${SECRET}</p>` });
      return recipient;
    },
    ...messagesOf(database),
  };
}

function messagesOf({ owner }: TestDatabase) {
  async function stateOf(recipient: string): Promise<MessageState | undefined> {
    const rows = await sql<MessageState>(owner)`select tries, outcome, extract(epoch
      from next_try_at - clock_timestamp())::float8 as waits
      from mail.messages where sealed_recipient = ${sealedEmail(recipient)}`;
    const [mail] = await mailsTo(owner, recipient);
    return rows[0] && mail && { ...rows[0], body: mail.body, html: mail.html };
  }
  async function until(recipient: string, isSo: (state: MessageState) => boolean): Promise<MessageState> {
    return waitUntil('the message is in this state', async () => {
      const state = await stateOf(recipient);
      return state !== undefined && isSo(state) && state;
    });
  }
  return {
    /** Returns the state of a message, or undefined if the message no longer exists. */
    stateOf,
    ended: (recipient: string) => until(recipient, ({ outcome }) => outcome !== null),
    tried: (recipient: string, least: number) => until(recipient, ({ tries }) => tries >= least),
    /** Changes the row of a message in a way that the service never does. */
    set: (recipient: string, assignment: string) => setMails(owner, recipient, assignment),
    /** Acts as if the time until the next attempt had passed. */
    makeDue: (recipient: string) => setMails(owner, recipient, 'next_try_at = clock_timestamp()'),
  };
}

/** A sender as the service makes one from its settings. */
export function senderTo(url: string): SendMail {
  const { mail } = readConfig({ SMTP_URL: url, PURSER_MAIL_FROM: FROM, PURSER_SECRET: 's'.repeat(32) });
  assert.ok(mail !== undefined);
  return createSmtpSender(mail);
}
