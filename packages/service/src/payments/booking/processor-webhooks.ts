import type { IncomingHttpHeaders } from 'node:http';
import { inTransaction, type Pool } from '#db/pool/pool.ts';
import { waitForLocks } from '#db/processes/queries.ts';
import type { Log } from '#kernel/log.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import { paymentMicros, paymentsBooked, webhooksReceived } from '#payments/booking/metrics.ts';
import type { TellOfPayment } from '#payments/booking/news.ts';
import type { PaymentReport, Processor, ProcessorEvent, ProcessorName } from '#payments/processor/processor.ts';
import { insertWebhook } from '#payments/records/queries.ts';
import { reconcile } from '#payments/booking/reconcile.ts';

/** Receives the webhooks of the payment processor. */
export interface ProcessorWebhooks {
  readonly processor: ProcessorName;
  /**
   * Receives one webhook. It is only a reason to look: the service reads the payment at the processor and brings the books
   * into line with what it finds (ON-02). Repeats are harmless. Refuses a webhook that the processor did not sign. Throws
   * if the processor or the database cannot be reached; the caller answers with a 500 so that the webhook is sent again.
   */
  readonly receive: (body: Buffer, headers: IncomingHttpHeaders) => Promise<'accepted' | Refusal<'BAD_REQUEST'>>;
}

interface BooksOptions {
  readonly pool: Pool;
  readonly processor: Processor;
  readonly log: Log;
  /** Tells of a payment. If it is undefined, nobody gets a mail. */
  readonly tellOfPayment?: TellOfPayment;
}

/** Takes `tellOthers`, which learns of payments that did not begin here. It is undefined if there are no others. */
export function createProcessorWebhooks(
  options: BooksOptions,
  tellOthers?: (event: ProcessorEvent) => Promise<void>,
): ProcessorWebhooks {
  const { processor } = options;
  return {
    processor: processor.name,
    receive: async (body, headers) => {
      const event = await processor.readWebhook(body, headers);
      if (event instanceof Refusal) {
        webhooksReceived.of({ result: 'refused' }).add();
        return event;
      }
      // Signed, but about something other than a payment. An error would make the processor send it again for days.
      if (event === undefined) return 'accepted';
      const report = await processor.lookUp(event.processorPayment);
      // A known event also leads to a look-up: an operator may have resent it to make us look.
      if (report !== undefined && !(await bringToBooks(options, report, event))) await tellOthers?.(event);
      webhooksReceived.of({ result: 'accepted' }).add();
      return 'accepted';
    },
  };
}

/**
 * Looks at a payment of which another cell has received a webhook. Returns false if it did not begin here. Nothing in the event is believed:
 * the payment is read at the processor.
 */
export async function receiveNews(options: BooksOptions, event: ProcessorEvent): Promise<boolean> {
  const report = await options.processor.lookUp(event.processorPayment);
  return report !== undefined && (await bringToBooks(options, report, event));
}

/**
 * Brings our books into line with a report, in one transaction. Returns false if the payment did not begin here. The
 * look-up happens before this call, outside the transaction: a slow processor must not hold the locks of a wallet.
 */
export async function bringToBooks(
  { pool, processor, log, tellOfPayment }: BooksOptions,
  report: PaymentReport,
  event?: ProcessorEvent,
): Promise<boolean> {
  const done = await inTransaction(pool, async (tx) => {
    await waitForLocks(tx);
    const reconciled = await reconcile(tx, processor.name, report);
    for (const news of reconciled?.news ?? []) await tellOfPayment?.(tx, news);
    // After the booking, in the same transaction: a webhook that could not be booked leaves no row and counts when resent.
    if (reconciled !== undefined && event !== undefined) {
      await insertWebhook(tx, { processor: processor.name, eventId: event.eventId, type: event.type });
    }
    return reconciled;
  });
  if (done === undefined) return false;
  // After the commit: a transaction that was rolled back must not count.
  for (const state of done.booked) paymentsBooked.of({ state }).add();
  for (const { kind, amount } of done.moved) paymentMicros.of({ kind }).add(Number(amount));
  for (const anomaly of done.anomalies) {
    if (anomaly.what === 'payment.amount_differs') log.warn(anomaly, 'a payment of another amount was credited');
    else log.error(anomaly, 'a payment needs an operator');
  }
  return true;
}
