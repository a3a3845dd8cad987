import type { Config } from '#app/config.ts';
import type { Pool, Queryable } from '#db/pool.ts';
import type { Log } from '#kernel/log.ts';
import { type Letter, writeLetter } from '#mail/letter.ts';
import { insertMessage } from '#mail/queries.ts';

interface MailOptions {
  readonly config: Config;
  readonly pool: Pool;
  readonly log: Log;
}

/** Leaves a letter for the outbox to send. What nobody could read is not kept: it may hold a secret. `tx`: with what it tells of. */
export type SendMail = (recipient: string, letter: Letter, tx?: Queryable) => Promise<void>;

export function createSendMail({ config, pool, log }: MailOptions): SendMail {
  const isRead = config.mail !== undefined || config.environment === 'development';
  return async (recipient, letter, tx = pool) => {
    if (isRead) await insertMessage(tx, { recipient, ...writeLetter(letter) });
    else log.warn('mail was not sent: there is no SMTP_URL');
  };
}
