import { WALLET_ACTS, walletListQuerySchema } from '@purser/contract/operator-wallets.ts';
import { walletFilterOf } from '#http/operator-plane/money/wallets.ts';
import { html, type Html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { ListedWallet } from '#operator/money/wallets.ts';
import { AMOUNT_TEXTS } from '#web/components/texts.ts';
import { amountText, parseAmount } from '#web/format/typed-amount.ts';
import { checked } from '#web/forms/form.ts';
import type { OpsPage, OpsRequest } from '#web/ops/frame/asked.ts';
import { code, listing, ofCells, opsPath, part } from '#web/ops/frame/details.ts';
import { choicesOf, listPage, pagerOf, type Typed } from '#web/ops/frame/list-page.ts';
import { entryTable, stateBadges } from '#web/ops/wallets/parts.ts';
import { ACT_TEXTS, ASK_TEXTS, ENTRY_TEXTS, WALLET_TEXTS, WALLETS_TEXTS as TEXTS } from '#web/ops/wallets/texts.ts';
import type { AppId, EndUserId } from '#kernel/values/ids.ts';
import { type Micros, microsFromRow, microsSumFromRow } from '#kernel/values/micros.ts';
import { parsePlace, type Place, placeText } from '#ledger/history/place.ts';
import { figures } from '#web/figures/figures.ts';
import { badge, buttonLink, card, definitionList, row } from '#web/components/parts.ts';
import { walletAsked } from '#web/ops/wallets/act-page.ts';

const PAGE_WALLETS = 50;

/** The fields of the filter, each with what the route that lists wallets calls it. */
const FIELDS = {
  app: { label: 'App ID', of: 'appId' },
  user: { label: 'User ID begins with', of: 'userId' },
  status: { label: 'State', of: 'status', choices: choicesOf(TEXTS.statuses, 'All') },
  sort: { label: 'Sort by', of: 'sort', choices: choicesOf(TEXTS.sorts) },
  minHeld: { label: 'On hold at least', of: 'minHeldMicros' },
  minBalance: { label: 'Balance at least', of: 'minBalanceMicros' },
  maxBalance: { label: 'Balance at most', of: 'maxBalanceMicros' },
  from: { label: 'Opened from (UTC)', of: 'openedFrom', type: 'datetime-local' },
  before: { label: 'Opened before (UTC)', of: 'openedBefore', type: 'datetime-local' },
} as const;

type Name = keyof typeof FIELDS;

/** The page `/ops/wallets`, which lists wallets of all apps. */
export const walletsPage = listPage({
  page: 'wallets',
  title: 'Wallets',
  above: ({ operator }) => html`<p class="soft">${TEXTS.what}</p>${ofCells(operator.cell, TEXTS.otherCells)}`,
  fields: () => FIELDS,
  cursor: { name: 'after', first: 'First page', more: 'Next page' },
  read: async ({ operator }, typed, after) => {
    const query = queryOf(typed, after);
    if (query instanceof Refusal) return query;
    const page = { isOldestFirst: query.sort === 'oldest', after: query.after, most: PAGE_WALLETS };
    const found = await operator.walletList.page(walletFilterOf(query), page);
    return found instanceof Refusal ? found : { rows: found.wallets, next: found.next };
  },
  caption: 'Wallets',
  columns: ({ operator: { cell } }) => (cell === undefined ? TEXTS.columns : [...TEXTS.columns, 'Cell']),
  numbers: [3, 4, 5],
  appOf: ({ appId }: ListedWallet) => appId,
  cells: ({ operator: { cell }, appLink, amount, moment }, wallet, names) => {
    const { appId, userId, currency, balance, held, shortfall, openedAtMs } = wallet;
    return [
      wallet.cell === cell
        ? html`<a href="${opsPath('wallet', { app: appId, user: userId })}">${code(userId)}</a>`
        : code(userId),
      appLink(appId, names),
      stateBadges(wallet),
      amount(balance, currency),
      amount(held, currency),
      shortfall === 0n ? '' : amount(shortfall, currency),
      moment(openedAtMs),
      ...(cell === undefined ? [] : [wallet.cell ?? cell]),
    ];
  },
  empty: (typed, after, next) => {
    if (next !== undefined) return 'None of the 5,000 wallets searched so far match. Continue on the next page.';
    const isNarrowed = Object.entries(typed).some(([name, value]) => name !== 'sort' && value !== '');
    return isNarrowed || after !== undefined ? 'No wallets match.' : TEXTS.noneYet;
  },
  after: ({ may }: OpsRequest, typed) =>
    row(
      may('wallet-open') ? buttonLink(opsPath('wallet-open', { app: typed.app }), 'Open a wallet', 'quiet') : undefined,
      buttonLink(opsPath('person'), 'Find a person', 'quiet'),
    ),
});

/** What was typed, by the rules of the route that lists wallets. */
function queryOf(typed: Typed<Name>, after: string | undefined) {
  const [minHeldMicros, minBalanceMicros, maxBalanceMicros] = [typed.minHeld, typed.minBalance, typed.maxBalance].map(
    (text) => (text === '' ? undefined : (parseAmount(text)?.toString() ?? 'unread')),
  );
  if ([minHeldMicros, minBalanceMicros, maxBalanceMicros].includes('unread')) {
    return refuse('BAD_REQUEST', AMOUNT_TEXTS.fault);
  }
  const asked = {
    appId: typed.app || undefined,
    userId: typed.user || undefined,
    status: typed.status || undefined,
    sort: (typed.user === '' && typed.sort) || undefined, // A search by user has an order of its own.
    openedFrom: momentTyped(typed.from),
    openedBefore: momentTyped(typed.before),
    after,
    minHeldMicros,
    minBalanceMicros,
    maxBalanceMicros,
  };
  const labels = Object.fromEntries(Object.values(FIELDS).map(({ of, label }) => [of, label]));
  return checked(walletListQuerySchema, asked, labels);
}

/** A browser writes a moment without seconds if they are zero, and without a time zone. */
function momentTyped(text: string): string | undefined {
  if (text === '') return undefined;
  return /T\d\d:\d\d$/.test(text) ? `${text}:00Z` : `${text}Z`;
}

const PAGE_ENTRIES = 25;
const SHOWN_HOLDS = 20;
const SHOWN_PAYMENTS = 20;

type Shown = NonNullable<Awaited<ReturnType<typeof read>>>;

/** The page `/ops/wallet?app=&user=`, which shows one wallet and the ways to change it. */
export const walletPage: OpsPage = {
  GET: async (asked) => {
    const wallet = walletAsked(asked);
    const before = asked.query.get('before') ?? '';
    const shown = wallet && (await read(asked, wallet, parsePlace(before)));
    if (shown === undefined) {
      return asked.show({ title: 'No such wallet', below: 'wallets', refusal: refuse('NOT_FOUND', WALLET_TEXTS.none) });
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
  wallet: { readonly appId: AppId; readonly userId: EndUserId },
  before: Place | undefined,
) {
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
    before: WALLET_TEXTS.micros(formats.count(Number(size))),
  });
  return figures([
    figure(WALLET_TEXTS.balance, balance),
    figure(WALLET_TEXTS.held, held),
    figure(WALLET_TEXTS.available, available),
    figure(WALLET_TEXTS.shortfall, shortfall),
  ]);
}

function factsOf({ appLink, amount }: OpsRequest, { wallet, appId, userId, owner, names }: Shown): Html {
  const { cap, currency, spentThisMonth } = wallet;
  const person = owner && html`<a href="${opsPath('person', { email: owner.email })}">${owner.email}</a>`;
  return definitionList([
    [WALLET_TEXTS.state, stateBadges(wallet)],
    ['App', appLink(appId, names)],
    ['User', code(userId)],
    ['Owner', person ?? 'nobody: the user has not connected yet, or the wallet was released'],
    [WALLET_TEXTS.cap, cap === undefined ? WALLET_TEXTS.noCap : amount(cap, currency)],
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
  return part('acts', 'Change the wallet', html`<p class="soft">${WALLET_TEXTS.actsWhat}</p>`, row(...links));
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
          html`${written(refunded, currency)}${disputed === 0n ? undefined : html`<br>${WALLET_TEXTS.disputed(written(disputed, currency))}`}`,
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
