import type { Config } from '#app/settings/config.ts';
import type { Pool, Queryable } from '#db/pool/pool.ts';
import type { Log } from '#kernel/log.ts';
import { type Letter, writeLetter } from '#mail/letter.ts';
import { startOutbox } from '#mail/outbox.ts';
import { insertMessage } from '#mail/queries.ts';
import { createSmtpSender } from '#mail/smtp.ts';

interface MailOptions {
  readonly config: Config;
  readonly pool: Pool;
  readonly log: Log;
}

/**
 * Puts a letter into the outbox. When nothing could ever send it, it is not stored, because it may contain a secret. Pass the
 * transaction of the event as `tx`, so that the letter and the event are stored together.
 */
export type SendMail = (recipient: string, letter: Letter, tx?: Queryable) => Promise<void>;

/** Whether anybody could ever read a mail of ours: it is sent, or shown in the mailbox of a development service. */
export function isMailRead({ mail, environment }: Pick<Config, 'mail' | 'environment'>): boolean {
  return mail !== undefined || environment === 'development';
}

export function createSendMail({ config, pool, log }: MailOptions): SendMail {
  const isRead = isMailRead(config);
  return async (recipient, letter, tx = pool) => {
    if (isRead) await insertMessage(tx, { recipient, ...writeLetter(letter) });
    else log.warn('mail was not sent: SMTP_URL is not set');
  };
}

/** Starts the outbox, which sends when there is a mail server. In development the texts stay, for the mailbox page. */
export function startMail({ mail, environment, retention }: Config, pool: Pool, log: Log) {
  const send = mail === undefined ? undefined : createSmtpSender(mail);
  return startOutbox({ pool, send, keepsBodies: environment === 'development', keptDays: retention.mailDays, log });
}
