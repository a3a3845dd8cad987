import { WALLET_ACTS } from '@purser/contract/operator-wallets.ts';
import { microsFromRow, microsSumFromRow } from '#kernel/values/micros.ts';
import type { WalletDetails } from '#operator/money/wallets.ts';
import type { OpsRequest } from '#web/ops/frame/for-operator.ts';
import { ACT_TEXTS, ASK_TEXTS, ENTRY_TEXTS } from '#web/ops/wallets/texts.ts';

/** Says what was done from what is true now, so that an address that somebody made up says nothing false. */
export function doneText(
  { request: { query, formats } }: OpsRequest,
  {
    wallet,
    entries,
    owner,
    payments,
  }: Pick<WalletDetails, 'wallet' | 'entries'> & {
    readonly owner: object | undefined;
    readonly payments: readonly { readonly paymentId: string; readonly refunded: bigint }[];
  },
): string | undefined {
  const act = WALLET_ACTS.find((one) => one === query.get('done'));
  if (act === undefined) return undefined;
  const { done } = ACT_TEXTS[act];
  const paid = payments.find(({ paymentId }) => paymentId === query.get('payment'));
  if (act === 'refund' && paid !== undefined) return paid.refunded > 0n ? ASK_TEXTS.ordered : undefined;
  if (act === 'open') return done;
  if (act === 'reinstate') return wallet.isSuspended ? undefined : done;
  if (act === 'release') return owner === undefined && !wallet.isConnected ? done : undefined;
  const key = query.get('key') ?? '';
  const booked = entries.filter(({ cause }) => key !== '' && cause.endsWith(`:${key}`)).toReversed();
  if (booked.length === 0) return undefined;
  const lines = booked.map(({ kind, seq, amount_micros, balance_after_micros }) =>
    ASK_TEXTS.booked(
      ENTRY_TEXTS[kind] ?? kind,
      formats.amount(microsSumFromRow(amount_micros), wallet.currency),
      formats.count(Number(seq)),
      formats.amount(microsFromRow(balance_after_micros), wallet.currency),
    ),
  );
  return [done, ...lines].join(' ');
}
