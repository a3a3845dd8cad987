import { WALLET_ACTS } from '@purser/contract/operator-wallets.ts';
import { type Html, html } from '#kernel/text/html.ts';
import type { AppId, EndUserId } from '#kernel/values/ids.ts';
import { type Micros, microsFromRow, microsSumFromRow } from '#kernel/values/micros.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import { parsePlace, type Place, placeText } from '#ledger/history/place.ts';
import type { WalletDetails } from '#operator/money/wallets.ts';
import type { Payment } from '#payments/refunds/refunds.ts';
import { badge } from '#web/components/badge.ts';
import { buttonLink, row } from '#web/components/button.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { figures } from '#web/figures/figures.ts';
import { card } from '#web/components/section.ts';
import { amountText } from '#web/format/typed-amount.ts';
import type { OpsPage, OpsRequest } from '#web/ops/frame/asked.ts';
import { code, listing, part } from '#web/ops/frame/details.ts';
import type { AppNames } from '#web/ops/frame/links.ts';
import { pagerOf } from '#web/ops/frame/list-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { entryTable, stateBadges } from '#web/ops/wallets/parts.ts';
import { walletAsked } from '#web/ops/wallets/asked-act.ts';
import { ACT_TEXTS, ASK_TEXTS, ENTRY_TEXTS, WALLET_TEXTS as TEXTS } from '#web/ops/wallets/texts.ts';

const PAGE_ENTRIES = 25;
const SHOWN_HOLDS = 20;
const SHOWN_PAYMENTS = 20;

interface Shown extends WalletDetails {
  readonly appId: AppId;
  readonly userId: EndUserId;
  readonly owner: { readonly email: string } | undefined;
  readonly payments: readonly Payment[];
  readonly names: AppNames;
}

/** The page `/ops/wallet?app=&user=`, which shows one wallet and the ways to change it. */
export const walletPage: OpsPage = {
  GET: async (asked) => {
    const wallet = walletAsked(asked);
    const before = asked.query.get('before') ?? '';
    const shown = wallet && (await read(asked, wallet, parsePlace(before)));
    if (shown === undefined) {
      return asked.show({ title: 'No such wallet', below: 'wallets', refusal: refuse('NOT_FOUND', TEXTS.none) });
    }
    const body = html`<div id="state" data-live>
${figuresOf(asked, shown)}
${card(factsOf(asked, shown))}
${card(holdsOf(asked, shown))}
</div>
${actsOf(asked, shown)}
${card(paymentsOf(asked, shown))}
${entriesOf(asked, shown, before)}`;
    return asked.show({ title: shown.userId, body, below: 'wallets', done: doneText(asked, shown) });
  },
};

async function read(
  { operator }: OpsRequest,
  wallet: Pick<Shown, 'appId' | 'userId'>,
  before: Place | undefined,
): Promise<Shown | undefined> {
  const details = await operator.wallets.find(wallet, { before, most: PAGE_ENTRIES });
  if (details === undefined) return undefined;
  const [owner, payments, names] = await Promise.all([
    operator.walletOwners.ofWallet(wallet),
    operator.paymentsInto(wallet.appId, wallet.userId),
    operator.apps.names([wallet.appId]),
  ]);
  return { ...wallet, ...details, owner, payments, names };
}

/** Says what was done from what is true now, so that an address that somebody made up says nothing false. */
function doneText({ query, formats, amount }: OpsRequest, shown: Shown): string | undefined {
  const { wallet, entries, owner, payments } = shown;
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
      amount(microsSumFromRow(amount_micros), wallet.currency),
      formats.count(Number(seq)),
      amount(balance_after_micros, wallet.currency),
    ),
  );
  return [done, ...lines].join(' ');
}

function figuresOf({ formats, amount }: OpsRequest, { wallet }: Shown): Html {
  const { currency, balance, held, available, shortfall } = wallet;
  const figure = (name: string, size: Micros) => ({
    name,
    value: formats.coins(size, currency),
    note: `Exactly ${amount(size, currency)}`,
    before: TEXTS.micros(formats.count(Number(size))),
  });
  return figures([
    figure(TEXTS.balance, balance),
    figure(TEXTS.held, held),
    figure(TEXTS.available, available),
    figure(TEXTS.shortfall, shortfall),
  ]);
}

function factsOf({ appLink, amount }: OpsRequest, { wallet, appId, userId, owner, names }: Shown): Html {
  const { cap, currency, spentThisMonth } = wallet;
  const person = owner && html`<a href="${opsPath('person', { email: owner.email })}">${owner.email}</a>`;
  return definitionList([
    [TEXTS.state, stateBadges(wallet)],
    ['App', appLink(appId, names)],
    ['User', code(userId)],
    ['Owner', person ?? 'nobody: the user has not connected yet, or the wallet was released'],
    [TEXTS.cap, cap === undefined ? TEXTS.noCap : amount(cap, currency)],
    ['Spent this month', amount(spentThisMonth, currency)],
  ]);
}

/** The acts that this operator may do, each on a page of its own. */
function actsOf({ may }: OpsRequest, { appId, userId, owner, wallet }: Shown): Html | undefined {
  const links = WALLET_ACTS.filter((act) => act !== 'open' && may(`wallet-${act}`))
    .filter((act) => act !== 'release' || owner !== undefined)
    .filter((act) => act !== 'reinstate' || wallet.isSuspended)
    .map((act) => buttonLink(opsPath(`wallet-${act}`, { app: appId, user: userId }), ACT_TEXTS[act].title, 'quiet'));
  if (links.length === 0) return undefined;
  return part('acts', 'Change the wallet', html`<p class="soft">${TEXTS.actsWhat}</p>`, row(...links));
}

function holdsOf({ formats, amount, moment }: OpsRequest, { wallet, holds }: Shown): Html {
  const list = listing({
    caption: 'Holds of running calls',
    columns: ['Since', 'Call', 'Kind', 'On hold'],
    numbers: [3],
    rows: holds
      .slice(0, SHOWN_HOLDS)
      .map(({ call_id, amount_micros, is_stream, placed_at }) => [
        moment(placed_at.getTime()),
        code(call_id),
        is_stream ? 'streamed' : 'plain',
        amount(amount_micros, wallet.currency),
      ]),
    empty: 'No calls of this wallet are running.',
  });
  if (holds.length <= SHOWN_HOLDS) return list;
  return html`${list}\n<p class="soft">These are the oldest of ${formats.count(holds.length)}.</p>`;
}

function paymentsOf({ may, moment, amount: written }: OpsRequest, { appId, userId, payments }: Shown): Html {
  return listing({
    caption: 'Payments',
    columns: ['Paid', 'Payment', 'Amount', 'Returned', 'State'],
    numbers: [2, 3],
    rows: payments
      .slice(0, SHOWN_PAYMENTS)
      .map(({ paymentId, amount, currency, paidAtMs, refunded, disputed, state }) => {
        const rest = amount - refunded - disputed;
        // What is left of the payment is in the form for a refund at first.
        const of = {
          app: appId,
          user: userId,
          payment: paymentId,
          amount: amountText(microsFromRow(rest > 0n ? rest : 0n)),
        };
        const refund =
          may('wallet-refund') && rest > 0n
            ? html`<br><a href="${opsPath('wallet-refund', of)}">Refund</a>`
            : undefined;
        return [
          moment(paidAtMs),
          html`<a href="${opsPath('payment', { id: paymentId })}">${code(paymentId)}</a>${refund}`,
          written(amount, currency),
          html`${written(refunded, currency)}${disputed === 0n ? undefined : html`<br>${TEXTS.disputed(written(disputed, currency))}`}`,
          state === 'credited' ? 'in the wallet' : badge('needs a decision', 'warn'),
        ];
      }),
    empty: 'Nobody has paid into this wallet.',
  });
}

function entriesOf(asked: OpsRequest, { appId, userId, wallet, entries, next }: Shown, before: string): Html {
  const texts = { caption: 'Entries of the ledger', empty: 'Nothing has been booked yet.' };
  const cursor = { name: 'before', first: 'Newest entries', more: 'Older entries' };
  const pages = pagerOf(cursor, {
    page: 'wallet',
    query: { app: appId, user: userId },
    place: before === '' ? undefined : before,
    next: next && placeText(next),
  });
  return card(entryTable(asked, entries, { ...texts, currency: wallet.currency, hasTime: true }), pages);
}
