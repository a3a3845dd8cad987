import type { Pool } from '#db/pool/pool.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { labelledCounter } from '#kernel/metrics/metrics.ts';
import { repeat } from '#kernel/time/repeat.ts';
import { sleep } from '#kernel/time/sleep.ts';
import { claimMessage, type DueMessage, endMessage, type MessageOutcome, tidyMessages } from '#mail/queries.ts';
import type { SendMail } from '#mail/smtp.ts';

const PERIOD_MS = 1_000;
const PASSES_PER_TIDYING = 60;
/** How long a stop waits for the attempt in progress. Afterwards another process makes the attempt again. */
const STOP_MS_MAX = 5_000;

const tries = labelledCounter('purser_mail_tries_total', 'Messages handed to the mail server, by what came of it.', {
  result: ['taken', 'refused', 'failed'],
});

interface OutboxOptions {
  readonly pool: Pool;
  /**
   * Sends a mail. It is undefined when there is no mail server: messages then wait for the mailbox page of a
   * development service.
   */
  readonly send: SendMail | undefined;
  /** Tells whether the texts of finished messages are kept. They contain secrets, so this is for development only. */
  readonly keepsBodies: boolean;
  /** The days after which a message is deleted, however it ended. With 0, it is never deleted. */
  readonly keptDays: number;
  readonly log: Log;
  readonly periodMs?: number;
}

interface Outbox {
  readonly stop: () => Promise<void>;
}

/**
 * Hands waiting messages to the mail server. Each process sends one at a time, and no message is with two processes at once.
 * Delivery is at least once, unless no server accepts the message for a day. A message goes out twice only if its process
 * dies, or loses the database for good, after the server accepted the message and before that was recorded.
 */
export function startOutbox({ pool, send, keepsBodies, keptDays, log, periodMs = PERIOD_MS }: OutboxOptions): Outbox {
  /** Outcomes that could not be recorded yet. Every pass tries again, before it sends anything. */
  const unrecorded = new Map<bigint, MessageOutcome>();
  let isStopping = false;
  let passes = 0;

  async function record(messageId: bigint, outcome: MessageOutcome): Promise<void> {
    unrecorded.set(messageId, outcome);
    await endMessage(pool, { messageId, outcome, keepsBody: keepsBodies });
    unrecorded.delete(messageId);
  }

  async function handOver(sendMail: SendMail, message: DueMessage): Promise<boolean> {
    const { message_id: messageId, message_key: key, recipient, subject, body, html } = message;
    const handed = await sendMail({ key, recipient, subject, body, html: html ?? undefined });
    tries.of({ result: handed.result }).add();
    if (handed.result !== 'taken') {
      const facts = { messageId: String(messageId), tries: message.tries, code: handed.code };
      log.warn(
        facts,
        handed.result === 'refused' ? 'the mail server refused a recipient' : 'mail could not be handed to the server',
      );
    }
    if (handed.result !== 'failed') await record(messageId, handed.result);
    return handed.result !== 'failed';
  }

  /**
   * Sends the next message. Returns true when another message may be due. After a failure it returns false: the server
   * may be down, so wait for the next pass.
   */
  async function sendNext(sendMail: SendMail): Promise<boolean> {
    if (isStopping) return false;
    const message = await claimMessage(pool);
    if (message === undefined) return false;
    return handOver(sendMail, message);
  }

  async function pass(): Promise<void> {
    try {
      for (const [messageId, outcome] of unrecorded) await record(messageId, outcome);
      if (send !== undefined) while (await sendNext(send));
      if (passes % PASSES_PER_TIDYING === 0) await tidy();
      passes += 1;
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'a pass of the outbox failed');
    }
  }

  async function tidy(): Promise<void> {
    const givenUp = await tidyMessages(pool, { keepsBodies, keptDays });
    if (givenUp > 0 && send !== undefined) log.error({ givenUp }, 'mail was given up: no server accepted it for a day');
  }

  const passing = repeat(pass, periodMs);
  return {
    stop: async () => {
      isStopping = true;
      await Promise.race([passing.stop(), sleep(STOP_MS_MAX, { ref: false })]);
    },
  };
}
