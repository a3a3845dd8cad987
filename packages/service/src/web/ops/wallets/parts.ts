import { type Html, html } from '#kernel/text/html.ts';
import { type Micros, microsFromRow, microsSumFromRow } from '#kernel/values/micros.ts';
import type { Wallet } from '#ledger/wallet/wallet.ts';
import type { CellEntry } from '#operator/money/wallets.ts';
import { badge } from '#web/components/badge.ts';
import { moment } from '#web/figures/moment.ts';
import { signedAmount } from '#web/figures/money.ts';
import { table } from '#web/figures/table.ts';
import type { Formats } from '#web/format/formats.ts';
import { ENTRY_TEXTS, WALLET_TEXTS as TEXTS } from '#web/ops/wallets/texts.ts';

/** An exact amount, and the same in micros, as the API has it. */
export function exactAmount(amount: Micros, currency: string, formats: Formats): Html {
  return html`${formats.amount(amount, currency)}<br><span class="soft">${TEXTS.micros(formats.count(Number(amount)))}</span>`;
}

/** The two states of a wallet, which are independent. */
export function stateBadges({ isSuspended, isConnected }: Pick<Wallet, 'isSuspended' | 'isConnected'>): Html {
  const first = isSuspended ? badge(TEXTS.suspended, 'warn') : undefined;
  const second = isConnected ? badge(TEXTS.connected, 'good') : badge(TEXTS.disconnected, 'warn');
  return html`${first}${first && ' '}${second}`;
}

/** Entries of the ledger, with the books that they move between. */
export function entryTable(
  entries: readonly CellEntry[],
  {
    caption,
    columns,
    empty,
    hasTime,
  }: {
    readonly caption: string;
    readonly columns: readonly string[];
    readonly empty: string;
    readonly hasTime: boolean;
  },
  { currency, formats }: { readonly currency: string; readonly formats: Formats },
): Html {
  return table({
    caption,
    columns: columns.map((name, at) => ({ name, isNumeric: at > 2 })),
    rows: entries.map((entry) => {
      const amount = microsSumFromRow(entry.amount_micros);
      const direction = entry.credit === 'wallet' ? 'in' : entry.debit === 'wallet' ? 'out' : 'none';
      return [
        hasTime
          ? html`${formats.count(Number(entry.seq))}<br>${moment(entry.at.getTime(), formats)}`
          : formats.count(Number(entry.seq)),
        html`${ENTRY_TEXTS[entry.kind] ?? entry.kind}<br><code class="soft">${entry.kind}</code>`,
        entry.cell === undefined
          ? TEXTS.books(entry.debit, entry.credit)
          : html`${TEXTS.books(entry.debit, entry.credit)}<br><span class="soft">${TEXTS.inCell(entry.cell)}</span>`,
        direction === 'none'
          ? html`${formats.amount(amount, currency)}<br><span class="soft">${TEXTS.beside}</span>`
          : signedAmount({ amount, currency }, direction, formats),
        formats.amount(microsFromRow(entry.balance_after_micros), currency),
      ];
    }),
    empty,
  });
}
