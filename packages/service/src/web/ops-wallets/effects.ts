import { type Html, html } from '#kernel/html.ts';
import type { Micros } from '#kernel/micros.ts';
import type { Wallet } from '#ledger/wallet/wallet.ts';
import type { WalletAct, WalletEffects } from '#operator/wallet-preview.ts';
import { section } from '#web/components/section.ts';
import { table } from '#web/components/table.ts';
import type { Formats } from '#web/format/formats.ts';
import { entryTable, exactAmount, stateBadges } from '#web/ops-wallets/parts.ts';
import { ASK_TEXTS as TEXTS, WALLET_TEXTS } from '#web/ops-wallets/texts.ts';

/** What an act will do: the wallet before and after, and the entries that it writes. */
export function effectsOf(wanted: WalletAct, effects: WalletEffects, formats: Formats): Html {
  const { isChange, isForTwo, before, after, entries } = effects;
  const { currency } = after;
  if (!isChange) return section({ id: 'effects', heading: TEXTS.effects, body: [TEXTS.nothing] });
  const amount = (of: (wallet: Wallet) => Micros) => (wallet: Wallet) => exactAmount(of(wallet), currency, formats);
  const lines: readonly (readonly [string, (wallet: Wallet) => Html | string])[] = [
    [WALLET_TEXTS.balance, amount(({ balance }) => balance)],
    [WALLET_TEXTS.held, amount(({ held }) => held)],
    [WALLET_TEXTS.available, amount(({ available }) => available)],
    [WALLET_TEXTS.shortfall, amount(({ shortfall }) => shortfall)],
    [WALLET_TEXTS.cap, ({ cap }) => (cap === undefined ? WALLET_TEXTS.noCap : exactAmount(cap, currency, formats))],
    [WALLET_TEXTS.state, stateBadges],
  ];
  const figures = table({
    caption: TEXTS.effects,
    columns: TEXTS.columns.map((name, at) => ({ name, isNumeric: at > 0 })),
    rows: lines.map(([name, of]) => [name, before === undefined ? TEXTS.noWallet : of(before), of(after)]),
    empty: TEXTS.nothing,
  });
  const written = entryTable(
    entries,
    { caption: TEXTS.entries, columns: TEXTS.entryColumns, empty: TEXTS.noEntries, hasTime: false },
    { currency, formats },
  );
  const isLater = wanted.act === 'refund' && wanted.paymentId !== undefined;
  return section({
    id: 'effects',
    heading: TEXTS.effects,
    body: [
      figures,
      written,
      isForTwo ? html`<p>${TEXTS.forTwo}</p>` : undefined,
      isLater ? html`<p>${TEXTS.later}</p>` : undefined,
      html`<p class="soft">${TEXTS.moves}</p>`,
    ],
  });
}

/**
 * What an act does beside moving a balance that calls move too, as a form carries it. If it is not the same any more when the
 * form arrives, the act would do something that nobody has read.
 */
export function signOf({ isChange, isForTwo, before, after, entries }: WalletEffects): string {
  const booked = entries.map(({ kind, amount_micros }) => `${kind} ${amount_micros}`);
  return [isChange, isForTwo, stateOf(before), stateOf(after), ...booked].join(';');
}

function stateOf(wallet: Wallet | undefined): string {
  if (wallet === undefined) return 'none';
  return [wallet.isSuspended, wallet.isConnected, wallet.shortfall, wallet.cap ?? ''].join(',');
}
