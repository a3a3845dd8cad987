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

type PaymentRow = NonNullable<Awaited<ReturnType<typeof selectAnyPayment>>>;

/** What belongs to a payment, as far as it is known. */
function aroundPayment(row: PaymentRow): readonly Entity[] {
  return [
    ...(row.checkout_id === null ? [] : [{ kind: 'checkout' as const, id: row.checkout_id }]),
    ...(row.payment_id === null ? [] : [{ kind: 'payment' as const, id: row.payment_id }]),
    walletEntity(row.app_id, row.user_id),
    { kind: 'app', id: row.app_id },
  ];
}

function foundPayment(
  kind: 'payment' | 'refund' | 'checkout' | 'dispute' | 'case',
  id: string,
  row: PaymentRow | undefined,
): readonly FoundEntity[] {
  if (row === undefined) return [];
  const related = aroundPayment(row).filter((one) => one.kind !== kind);
  const { state, at, amount_micros: amount } = row;
  const unpaid = kind === 'checkout' ? (row.payment_id === null ? 'not paid' : 'paid') : undefined;
  return [
    {
      kind,
      id,
      name: undefined,
      state: state ?? unpaid,
      atMs: at.getTime(),
      amount: microsFromRow(amount),
      related,
    },
  ];
}

/** Payments, refunds, disputes, cases and checkouts by their ids. */
export const PAYMENT_FINDERS: Readonly<Record<string, (pool: Pool, id: string) => Promise<readonly FoundEntity[]>>> = {
  pay_: async (pool, id) => foundPayment('payment', id, await selectAnyPayment(pool, id)),
  ref_: async (pool, id) => foundPayment('refund', id, await selectAnyRefund(pool, id)),
  dsp_: async (pool, id) => foundPayment('dispute', id, await selectAnyDispute(pool, id)),
  cas_: async (pool, id) => foundPayment('case', id, await selectAnyCase(pool, id)),
  chk_: async (pool, id) => foundPayment('checkout', id, await selectAnyCheckout(pool, id)),
};

/** What the payment processor calls by this id, such as `pi_…`. */
export async function findByProcessorId(pool: Pool, text: string): Promise<readonly FoundEntity[]> {
  const ours = await selectByProcessorId(pool, text);
  if (ours === undefined) return [];
  const find = Object.entries(PAYMENT_FINDERS).find(([prefix]) => ours.startsWith(prefix))?.[1];
  return (await find?.(pool, ours)) ?? [];
}
