import { type Html, html } from '#kernel/text/html.ts';
import { type Micros, micros, ZERO_MICROS } from '#kernel/values/micros.ts';
import type { Wallet } from '#ledger/wallet/wallet.ts';
import type { WalletAct, WalletEffects } from '#operator/money/wallet-preview.ts';
import { signedAmount } from '#web/figures/money.ts';
import { warningNotice } from '#web/components/notices.ts';
import { card } from '#web/components/section.ts';
import type { Formats } from '#web/format/formats.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { listing, part } from '#web/ops/frame/details.ts';
import { entryTable, exactAmount, stateBadges } from '#web/ops/wallets/parts.ts';
import { ASK_TEXTS as TEXTS, WALLET_TEXTS } from '#web/ops/wallets/texts.ts';

/** What an act will do: the wallet before and after, and the entries that it writes. `isKept`: it is about a payment in no wallet. */
export function effectsOf(asked: OpsRequest, wanted: WalletAct, effects: WalletEffects, isKept: boolean): Html {
  const { isChange, isForTwo, before, after, entries } = effects;
  const { currency } = after;
  if (!isChange) return part('effects', TEXTS.effects, TEXTS.nothing);
  const cap = ({ cap: most }: Wallet) => (most === undefined ? WALLET_TEXTS.noCap : asked.amount(most, currency));
  const figures = listing({
    caption: TEXTS.effects,
    columns: ['Figure', 'Before', 'After', 'Change'],
    numbers: [1, 2, 3],
    rows: [
      ...AMOUNTS.map(([name, of]) => {
        const now = before === undefined ? TEXTS.noWallet : exactAmount(asked, of(before), currency);
        const change = changeOf(before === undefined ? ZERO_MICROS : of(before), of(after), currency, asked.formats);
        return [name, now, exactAmount(asked, of(after), currency), change];
      }),
      wordsOf(WALLET_TEXTS.cap, before, after, cap),
      wordsOf(WALLET_TEXTS.state, before, after, stateBadges),
    ],
  });
  const texts = { caption: 'New entries', empty: 'There will be no new entries.' };
  const isLater = wanted.act === 'refund' && wanted.paymentId !== undefined;
  const missing = isKept ? undefined : missingFor(wanted, effects);
  return card(
    missing === undefined ? undefined : warningNotice(TEXTS.aboveBalance(asked.amount(missing, currency))),
    figures,
    entryTable(asked, entries, { ...texts, currency, hasTime: false }),
    isForTwo ? html`<p>${TEXTS.forTwo}</p>` : undefined,
    isLater ? html`<p>${TEXTS.later}</p>` : undefined,
    html`<p class="soft">${TEXTS.moves}</p>`,
  );
}

/** How much of a refund the wallet does not have. It is undefined if it has all of it. */
function missingFor(wanted: WalletAct, { before, entries }: WalletEffects): Micros | undefined {
  if (wanted.act !== 'refund' || before === undefined) return undefined;
  const isAside = entries.some(({ kind }) => kind === 'refund_set_aside');
  const there = wanted.paymentId === undefined ? before.balance : before.available;
  return isAside || wanted.amount <= there ? undefined : micros(wanted.amount - there);
}

const AMOUNTS: readonly (readonly [string, (wallet: Wallet) => Micros])[] = [
  [WALLET_TEXTS.balance, ({ balance }) => balance],
  [WALLET_TEXTS.held, ({ held }) => held],
  [WALLET_TEXTS.available, ({ available }) => available],
  [WALLET_TEXTS.shortfall, ({ shortfall }) => shortfall],
];

function changeOf(before: Micros, after: Micros, currency: string, formats: Formats): Html | string {
  if (before === after) return TEXTS.same;
  const [amount, direction] = after > before ? [after - before, 'in' as const] : [before - after, 'out' as const];
  return signedAmount({ amount: micros(amount), currency }, direction, formats);
}

/** A line of the table that is no amount. */
function wordsOf(
  name: string,
  before: Wallet | undefined,
  after: Wallet,
  of: (wallet: Wallet) => Html | string,
): readonly (Html | string)[] {
  const [now, then] = [html`${before === undefined ? TEXTS.noWallet : of(before)}`, html`${of(after)}`];
  return [name, now, then, now.text === then.text ? TEXTS.same : 'changes'];
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
