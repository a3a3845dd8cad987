import { type Html, html } from '#kernel/text/html.ts';
import { type Micros, microsSumFromRow } from '#kernel/values/micros.ts';
import type { Wallet } from '#ledger/wallet/wallet.ts';
import type { CellEntry } from '#operator/money/wallets.ts';
import { badge } from '#web/components/parts.ts';
import { signedAmount } from '#web/figures/figures.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { listing, soft } from '#web/ops/frame/details.ts';
import { ENTRY_TEXTS, WALLET_TEXTS as TEXTS } from '#web/ops/wallets/texts.ts';

/** An exact amount, and the same in micros, as the API has it. */
export function exactAmount({ amount, formats }: OpsRequest, size: Micros, currency: string): Html {
  return html`${amount(size, currency)}<br>${soft(TEXTS.micros(formats.count(Number(size))))}`;
}

/** The two states of a wallet, which are independent. */
export function stateBadges({ isSuspended, isConnected }: Pick<Wallet, 'isSuspended' | 'isConnected'>): Html {
  const first = isSuspended ? badge('Suspended', 'warn') : undefined;
  const second = isConnected ? badge('Connected', 'good') : badge('Disconnected', 'warn');
  return html`${first}${first && ' '}${second}`;
}

/** Entries of the ledger, with the books that they move between. */
export function entryTable(
  { formats, amount: written, moment }: OpsRequest,
  entries: readonly CellEntry[],
  { currency, hasTime, ...texts }: Record<'caption' | 'empty' | 'currency', string> & { readonly hasTime: boolean },
): Html {
  return listing({
    ...texts,
    columns: ['Entry', 'What', 'Books', 'Amount', 'Balance after'],
    numbers: [3, 4],
    rows: entries.map(({ seq, at, kind, cell, debit, credit, amount_micros, balance_after_micros }) => {
      const amount = microsSumFromRow(amount_micros);
      const direction = credit === 'wallet' ? 'in' : debit === 'wallet' ? 'out' : 'none';
      return [
        html`${formats.count(Number(seq))}${hasTime ? html`<br>${moment(at.getTime())}` : undefined}`,
        html`${ENTRY_TEXTS[kind] ?? kind}<br><code class="soft">${kind}</code>`,
        html`${debit} to ${credit}${cell === undefined ? undefined : html`<br>${soft(TEXTS.inCell(cell))}`}`,
        direction === 'none'
          ? html`${written(amount, currency)}<br>${soft('balance unchanged')}`
          : signedAmount({ amount, currency }, direction, formats),
        written(balance_after_micros, currency),
      ];
    }),
  });
}
