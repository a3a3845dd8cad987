import type { SendNews } from '#developers/accounts/news.ts';
import type { Ground, Stoppable } from '#app/process/ground.ts';
import type { Config } from '#app/settings/config.ts';
import type { Pool, Queryable } from '#db/pool/pool.ts';
import type { Log } from '#kernel/log.ts';
import { isoOf } from '#kernel/time/clock.ts';
import { accountNewsMail } from '#mail/account-letters.ts';
import { type Letter, writeLetter } from '#mail/letter.ts';
import { startOutbox } from '#mail/outbox.ts';
import { insertMessage } from '#mail/queries.ts';
import { createSmtpSender } from '#mail/smtp.ts';

/**
 * Puts a letter into the outbox. When nothing could ever send it, it is not stored, because it may contain a secret. Pass the
 * transaction of the event as `tx`, so that the letter and the event are stored together.
 */
export type SendMail = (recipient: string, letter: Letter, tx?: Queryable) => Promise<void>;

/** What letters say of the service. */
type Letterhead = Pick<Config, 'operatorName' | 'publicUrl' | 'supportEmail'>;

/** The outbox, which sends when there is a mail server. In development the texts stay, for the mailbox page. */
export interface Mail extends Stoppable {
  readonly letterhead: Letterhead;
  readonly send: SendMail;
  /** Mails what happened to an account to its holder. */
  readonly sendNews: SendNews;
  /** Whether anybody could ever read a mail of ours: it is sent, or shown in the mailbox of a development service. */
  readonly isRead: boolean;
}

export function openMail({ config, pools, clock, log }: Ground): Mail {
  const { mail, environment, retention } = config;
  const send = createSendMail(config, pools.planes, log);
  const letterhead = letterheadOf(config);
  const outbox = startOutbox({
    pool: pools.planes,
    send: mail && createSmtpSender(mail),
    keepsBodies: environment === 'development',
    keptDays: retention.mailDays,
    log,
  });
  return {
    letterhead,
    send,
    sendNews: (tx, email, news) => {
      const at = `${isoOf(clock.nowMs()).slice(0, 16).replace('T', ' ')} UTC`;
      return send(email, accountNewsMail({ ...letterhead, at, news }), tx);
    },
    isRead: isMailRead(config),
    stop: outbox.stop,
  };
}

export function createSendMail(config: Config, pool: Pool, log: Log): SendMail {
  const isRead = isMailRead(config);
  return async (recipient, letter, tx = pool) => {
    if (isRead) await insertMessage(tx, { recipient, ...writeLetter(letter) });
    else log.warn('mail was not sent: SMTP_URL is not set');
  };
}

export function letterheadOf({ operatorName, publicUrl, supportEmail }: Letterhead): Letterhead {
  return { operatorName, publicUrl, supportEmail };
}

function isMailRead({ mail, environment }: Config): boolean {
  return mail !== undefined || environment === 'development';
}
