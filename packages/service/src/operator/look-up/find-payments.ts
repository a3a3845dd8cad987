import type { Pool } from '#db/pool/pool.ts';
import { microsFromRow } from '#kernel/values/micros.ts';
import { type Entity, type FoundEntity, walletEntity } from '#operator/look-up/entities.ts';
import {
  selectAnyCase,
  selectAnyCheckout,
  selectAnyDispute,
  selectAnyPayment,
  selectAnyRefund,
  selectByProcessorId,
} from '#payments/overview/find-queries.ts';

/** Payments, refunds, disputes, cases and checkouts by the prefixes of their ids. */
const BY_PREFIX = {
  pay_: ['payment', selectAnyPayment],
  ref_: ['refund', selectAnyRefund],
  dsp_: ['dispute', selectAnyDispute],
  cas_: ['case', selectAnyCase],
  chk_: ['checkout', selectAnyCheckout],
} as const;

type PaymentRow = NonNullable<Awaited<ReturnType<typeof selectAnyPayment>>>;

/** Finds a payment, or what hangs on one, by its id. Undefined if nothing has the id, or it is an id of another kind. */
export async function findPayment(pool: Pool, id: string): Promise<FoundEntity | undefined> {
  const [, [kind, select] = []] = Object.entries(BY_PREFIX).find(([prefix]) => id.startsWith(prefix)) ?? [];
  const row = await select?.(pool, id);
  if (row === undefined || kind === undefined) return undefined;
  const { state, at, amount_micros: amount } = row;
  const paid = kind === 'checkout' ? (row.payment_id === null ? 'not paid' : 'paid') : undefined;
  const related = aroundPayment(row).filter((one) => one.kind !== kind);
  return { kind, id, state: state ?? paid, atMs: at.getTime(), amount: microsFromRow(amount), related };
}

/** What the payment processor calls by this id, such as `pi_…`. */
export async function findByProcessorId(pool: Pool, text: string): Promise<FoundEntity | undefined> {
  const ours = await selectByProcessorId(pool, text);
  return ours === undefined ? undefined : findPayment(pool, ours);
}

/** What belongs to a payment, as far as it is known. */
function aroundPayment(row: PaymentRow): readonly Entity[] {
  return [
    ...(row.checkout_id === null ? [] : [{ kind: 'checkout' as const, id: row.checkout_id }]),
    ...(row.payment_id === null ? [] : [{ kind: 'payment' as const, id: row.payment_id }]),
    walletEntity(row.app_id, row.user_id),
    { kind: 'app', id: row.app_id },
  ];
}
