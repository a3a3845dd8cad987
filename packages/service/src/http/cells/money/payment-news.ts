import { z } from 'zod';
import { CellAway } from '#kernel/faults/cell-away.ts';
import type { EveryCell } from '#http/cells/questions/every-cell.ts';
import type { CellQuestion } from '#http/cells/questions/question.ts';
import type { ProcessorEvent } from '#payments/processor/processor.ts';

/** The cell that is asked reads the payment at the processor. Stripe waits longer than this for the answer to a webhook. */
const WAIT_MS = 15_000;
const BYTES_MAX = 2_048;
const TEXT_MAX = 255;

const nameSchema = z.string().min(1).max(TEXT_MAX);

/**
 * `POST /cells/payment-news` says that something has happened to a payment. The answer says whether the payment began
 * in that cell; then it is on the books there.
 */
const PAYMENT_NEWS: CellQuestion<ProcessorEvent, { readonly isKnown: boolean }> = {
  path: '/cells/payment-news',
  bytesMax: BYTES_MAX,
  waitMs: WAIT_MS,
  asked: z.object({ eventId: nameSchema, type: nameSchema, processorPayment: nameSchema }),
  answer: z.object({ isKnown: z.boolean() }),
};

/**
 * Tells all other cells about a payment that did not begin here, and lets them tell this one. If none of them has it and one does not
 * answer, it throws `CellAway`: the processor then sends its webhook again. A payment that no cell has is nobody's, and nothing happens.
 */
export function paymentNewsElsewhere(
  receive: (event: ProcessorEvent) => Promise<boolean>,
  { survey }: EveryCell,
): (event: ProcessorEvent) => Promise<void> {
  const ask = survey(PAYMENT_NEWS, async (event) => ({ isKnown: await receive(event) }));
  return async (event) => {
    const answers = await ask(event);
    if (answers.some(({ answer }) => answer?.isKnown === true)) return;
    const away = answers.find(({ answer }) => answer === undefined);
    if (away !== undefined) throw new CellAway(away.cell);
  };
}
