import type { Queryable } from '#db/pool/pool.ts';
import { createWallets } from '#ledger/wallet/wallet.ts';
import { openCase } from '#payments/cases/queries.ts';
import type { PaymentRow } from '#payments/records/queries.ts';

/** Opens a case if the wallet could not cover what was just taken from it: it is suspended until a person decides (WA-06). */
export async function noteSuspension(
  tx: Queryable,
  payment: Pick<PaymentRow, 'payment_id' | 'app_id' | 'user_id'>,
  subject: string,
): Promise<void> {
  const wallet = await createWallets(tx).find(payment.app_id, payment.user_id);
  if (wallet !== undefined && wallet.shortfall > 0n) await openCase(tx, { kind: 'wallet_suspended', payment, subject });
}
