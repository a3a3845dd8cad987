import type { Pool } from '#db/pool.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { labelledCounter } from '#kernel/metrics.ts';
import { repeat } from '#kernel/repeat.ts';
import { sleep } from '#kernel/sleep.ts';
import { claimMessage, type DueMessage, endMessage, type MessageOutcome, tidyMessages } from '#mail/queries.ts';
import type { SendMail } from '#mail/smtp.ts';

const PERIOD_MS = 1_000;
const PASSES_PER_TIDYING = 60;
/** How long a stop waits for the try under way; who waited longer for nothing is tried again by another process. */
const STOP_MS_MAX = 5_000;

const tries = labelledCounter('purser_mail_tries_total', 'Messages handed to the mail server, by what came of it.', {
  result: ['taken', 'refused', 'failed'],
});

interface OutboxOptions {
  readonly pool: Pool;
  /** Undefined: there is no mail server, and messages are for the mailbox of a development service. */
  readonly send: SendMail | undefined;
  /** Whether the texts of messages stay after their end. They hold secrets: for development alone. */
  readonly keepsBodies: boolean;
  readonly log: Log;
  readonly periodMs?: number;
}

interface Outbox {
  readonly stop: () => Promise<void>;
}

/**
 * Hands waiting messages to the mail server, one after the other in each process, and each message by one process. A
 * message is handed over at least once, unless nobody takes it for a day; twice only when its process dies, or loses the
 * database for good, between the server's word and its own note of it.
 */
export function startOutbox({ pool, send, keepsBodies, log, periodMs = PERIOD_MS }: OutboxOptions): Outbox {
  /** What a server has taken, or will not have, and could not be written down. */
  const unnoted = new Map<bigint, MessageOutcome>();
  let isStopping = false;
  let passes = 0;

  async function note(messageId: bigint, outcome: MessageOutcome): Promise<void> {
    unnoted.set(messageId, outcome);
    await endMessage(pool, { messageId, outcome, keepsBody: keepsBodies });
    unnoted.delete(messageId);
  }

  async function handOver(sendMail: SendMail, message: DueMessage): Promise<boolean> {
    const { message_id: messageId, message_key: key, recipient, subject, body, html } = message;
    const handed = await sendMail({ key, recipient, subject, body, html: html ?? undefined });
    tries.of({ result: handed.result }).add();
    if (handed.result !== 'taken') {
      const facts = { messageId: String(messageId), tries: message.tries, code: handed.code };
      log.warn(
        facts,
        handed.result === 'refused' ? 'a recipient of mail was refused' : 'mail could not be handed over',
      );
    }
    if (handed.result !== 'failed') await note(messageId, handed.result);
    return handed.result !== 'failed';
  }

  /** True when there may be more to do at once. After a failure the next message can wait for the next pass. */
  async function sendNext(sendMail: SendMail): Promise<boolean> {
    if (isStopping) return false;
    const message = await claimMessage(pool);
    if (message === undefined) return false;
    return handOver(sendMail, message);
  }

  async function pass(): Promise<void> {
    try {
      for (const [messageId, outcome] of unnoted) await note(messageId, outcome);
      if (send !== undefined) while (await sendNext(send));
      if (passes % PASSES_PER_TIDYING === 0) await tidy();
      passes += 1;
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'the outbox did not get through its pass');
    }
  }

  async function tidy(): Promise<void> {
    const givenUp = await tidyMessages(pool, keepsBodies);
    if (givenUp > 0 && send !== undefined) log.error({ givenUp }, 'mail that nobody took for a day was given up');
  }

  const turns = repeat(pass, periodMs);
  return {
    stop: async () => {
      isStopping = true;
      await Promise.race([turns.stop(), sleep(STOP_MS_MAX, { ref: false })]);
    },
  };
}
