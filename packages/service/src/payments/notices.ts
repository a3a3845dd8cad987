import type { IncomingHttpHeaders } from 'node:http';
import { inTransaction, type Pool } from '#db/pool.ts';
import { waitForLocks } from '#db/queries.ts';
import type { Log } from '#kernel/log.ts';
import { Refusal } from '#kernel/refusal.ts';
import { noticesTaken, paymentsBooked } from '#payments/metrics.ts';
import type { Notice, PaymentReport, Processor, ProcessorName } from '#payments/processor.ts';
import { insertNotice } from '#payments/queries.ts';
import { reconcile } from '#payments/reconcile.ts';

/** What a processor tells of payments. */
export interface Notices {
  readonly processor: ProcessorName;
  /**
   * Takes one notice. It is only a reason to look: the payment is looked up at the processor, and our books are brought to what it
   * says (ON-02). Refused where it is not the processor's. Throws where the processor or the database is away: it must be
   * sent again.
   */
  readonly take: (body: Buffer, headers: IncomingHttpHeaders) => Promise<'taken' | Refusal<'BAD_REQUEST'>>;
}

interface BooksOptions {
  readonly pool: Pool;
  readonly processor: Processor;
  readonly log: Log;
}

export function createNotices(options: BooksOptions): Notices {
  const { processor } = options;
  return {
    processor: processor.name,
    take: async (body, headers) => {
      const notice = await processor.readNotice(body, headers);
      if (notice instanceof Refusal) {
        noticesTaken.of({ result: 'refused' }).add();
        return notice;
      }
      if (notice === undefined) return 'taken';
      const report = await processor.lookUp(notice.processorPayment);
      // Also one that is known leads to a look: it may have been sent again by somebody who wants one.
      if (report !== undefined) await bringToBooks(options, report, notice);
      noticesTaken.of({ result: 'taken' }).add();
      return 'taken';
    },
  };
}

/** Brings our books to a report. False where its payment is none of ours. */
export async function bringToBooks(
  { pool, processor, log }: BooksOptions,
  report: PaymentReport,
  notice?: Notice,
): Promise<boolean> {
  const done = await inTransaction(pool, async (tx) => {
    await waitForLocks(tx);
    const reconciled = await reconcile(tx, processor.name, report);
    if (reconciled !== undefined && notice !== undefined) {
      await insertNotice(tx, { processor: processor.name, noticeId: notice.noticeId, type: notice.type });
    }
    return reconciled;
  });
  if (done === undefined) return false;
  for (const state of done.booked) paymentsBooked.of({ state }).add();
  for (const anomaly of done.anomalies) log.error(anomaly, 'a payment needs an operator');
  return true;
}
