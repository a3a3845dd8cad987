import { WALLET_ACTS } from '@purser/contract/operator-wallets.ts';
import { type Html, html } from '#kernel/text/html.ts';
import type { AppId, EndUserId } from '#kernel/values/ids.ts';
import { type Micros, microsFromRow } from '#kernel/values/micros.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import { parsePlace, type Place, placeText } from '#ledger/history/place.ts';
import type { WalletDetails } from '#operator/money/wallets.ts';
import type { Payment } from '#payments/refunds/refunds.ts';
import { badge } from '#web/components/badge.ts';
import { buttonLink, row } from '#web/components/button.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { figures } from '#web/figures/figures.ts';
import { moment } from '#web/figures/moment.ts';
import { pager } from '#web/components/navigation.ts';
import { errorSummary, successNotice } from '#web/components/notices.ts';
import { card, section } from '#web/components/section.ts';
import { table } from '#web/figures/table.ts';
import { amountText } from '#web/format/typed-amount.ts';
import type { PageMethods } from '#web/frame/page.ts';
import { forOperator, type OpsRequest } from '#web/ops/frame/for-operator.ts';
import { showOpsPage } from '#web/ops/frame/ops-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import type { OpsServices } from '#web/ops/frame/services.ts';
import { type AppNames, appLink } from '#web/ops/frame/links.ts';
import { doneText } from '#web/ops/wallets/done-text.ts';
import { entryTable, stateBadges } from '#web/ops/wallets/parts.ts';
import { walletAsked } from '#web/ops/wallets/asked-act.ts';
import { ACT_TEXTS, WALLET_TEXTS as TEXTS, WALLETS_TEXTS } from '#web/ops/wallets/texts.ts';

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

/** Makes the page `/ops/wallet?app=&user=`, which shows one wallet and the ways to change it. */
export function walletPage(services: OpsServices): PageMethods {
  return forOperator(services, {
    GET: async (asked) => {
      const { query } = asked.request;
      const above = { page: 'wallets', above: WALLETS_TEXTS.title };
      const wallet = walletAsked(query);
      const before = query.get('before') ?? '';
      const found = wallet && (await read(services, wallet, parsePlace(before)));
      if (found === undefined) {
        const refusal = refuse('NOT_FOUND', TEXTS.none);
        const body = html`${errorSummary(refusal.message)}`;
        return showOpsPage(services, asked, { ...above, title: TEXTS.noneTitle, body, refusal });
      }
      const shown = { ...found, isNewest: before === '' };
      const body = html`${successNotice(doneText(asked, shown))}
<div id="state" data-live>
${figuresOf(asked, shown)}
${card(factsOf(asked, shown))}
${card(holdsOf(asked, shown))}
</div>
${actsOf(asked, shown)}
${card(paymentsOf(asked, shown))}
${entriesOf(asked, shown)}`;
      return showOpsPage(services, asked, { ...above, title: found.userId, body });
    },
  });
}

type WalletName = Pick<Shown, 'appId' | 'userId'>;

async function read(
  { operator }: OpsServices,
  wallet: WalletName,
  before: Place | undefined,
): Promise<Shown | undefined> {
  const details = await operator.wallets.find(wallet, { before, most: PAGE_ENTRIES });
  if (details === undefined) return undefined;
  const [owner, payments, names] = await Promise.all([
    operator.walletOwners.ofWallet(wallet),
    operator.payments.list(wallet.appId, wallet.userId),
    operator.apps.names([wallet.appId]),
  ]);
  return { ...wallet, ...details, owner, payments, names };
}

function figuresOf({ request: { formats } }: OpsRequest, { wallet }: Shown): Html {
  const { currency } = wallet;
  const figure = (name: string, amount: Micros) => ({
    name,
    value: formats.coins(amount, currency),
    note: TEXTS.exactly(formats.amount(amount, currency)),
    before: TEXTS.micros(formats.count(Number(amount))),
  });
  return figures([
    figure(TEXTS.balance, wallet.balance),
    figure(TEXTS.held, wallet.held),
    figure(TEXTS.available, wallet.available),
    figure(TEXTS.shortfall, wallet.shortfall),
  ]);
}

function factsOf({ role, request: { formats } }: OpsRequest, shown: Shown): Html {
  const { wallet, appId, userId, owner, names } = shown;
  const { cap, currency, spentThisMonth } = wallet;
  return definitionList([
    [TEXTS.state, stateBadges(wallet)],
    [TEXTS.app, appLink(role, appId, names)],
    [TEXTS.user, html`<code>${userId}</code>`],
    [
      TEXTS.owner,
      owner === undefined
        ? TEXTS.noOwner
        : html`<a href="${opsPath('person', { email: owner.email })}">${owner.email}</a>`,
    ],
    [TEXTS.cap, cap === undefined ? TEXTS.noCap : formats.amount(cap, currency)],
    [TEXTS.spent, formats.amount(spentThisMonth, currency)],
  ]);
}

/** The acts that this operator may do, each on a page of its own. */
function actsOf({ may }: OpsRequest, { appId, userId, owner, wallet }: Shown): Html | undefined {
  const links = WALLET_ACTS.filter((act) => act !== 'open' && may(`wallet-${act}`))
    .filter((act) => act !== 'release' || owner !== undefined)
    .filter((act) => act !== 'reinstate' || wallet.isSuspended)
    .map((act) => buttonLink(opsPath(`wallet-${act}`, { app: appId, user: userId }), ACT_TEXTS[act].title, 'quiet'));
  if (links.length === 0) return undefined;
  return section({
    id: 'acts',
    heading: TEXTS.acts,
    body: [html`<p class="soft">${TEXTS.actsWhat}</p>`, row(...links)],
  });
}

function holdsOf({ request: { formats } }: OpsRequest, { wallet, holds }: Shown): Html {
  const list = table({
    caption: TEXTS.holds,
    columns: TEXTS.holdColumns.map((name, at) => ({ name, isNumeric: at === 3 })),
    rows: holds
      .slice(0, SHOWN_HOLDS)
      .map(({ call_id, amount_micros, is_stream, placed_at }) => [
        moment(placed_at.getTime(), formats),
        html`<code>${call_id}</code>`,
        is_stream ? TEXTS.stream : TEXTS.plain,
        formats.amount(microsFromRow(amount_micros), wallet.currency),
      ]),
    empty: TEXTS.noHolds,
  });
  if (holds.length <= SHOWN_HOLDS) return list;
  return html`${list}\n<p class="soft">${TEXTS.moreHolds(formats.count(holds.length))}</p>`;
}

function paymentsOf(asked: OpsRequest, { appId, userId, payments }: Shown): Html {
  const { formats } = asked.request;
  const mayRefund = asked.may('wallet-refund');
  return table({
    caption: TEXTS.payments,
    columns: TEXTS.paymentColumns.map((name, at) => ({ name, isNumeric: at === 2 || at === 3 })),
    rows: payments.slice(0, SHOWN_PAYMENTS).map((payment) => {
      const { paymentId, amount, currency, paidAtMs, refunded, disputed, state } = payment;
      const rest = amount - refunded - disputed;
      const link = opsPath('wallet-refund', {
        app: appId,
        user: userId,
        payment: paymentId,
        amount: restText(payment),
      });
      return [
        moment(paidAtMs, formats),
        html`<a href="${opsPath('payment', { id: paymentId })}"><code>${paymentId}</code></a>${mayRefund && rest > 0n ? html`<br><a href="${link}">${TEXTS.refund}</a>` : undefined}`,
        formats.amount(amount, currency),
        html`${formats.amount(refunded, currency)}${disputed === 0n ? undefined : html`<br>${TEXTS.disputed(formats.amount(disputed, currency))}`}`,
        state === 'credited' ? TEXTS.credited : badge(TEXTS.kept, 'warn'),
      ];
    }),
    empty: TEXTS.noPayments,
  });
}

/** What is left of a payment, as the form for a refund has it at first. */
function restText({ amount, refunded, disputed }: Payment): string {
  const rest = amount - refunded - disputed;
  return rest > 0n ? amountText(microsFromRow(rest)) : '';
}

function entriesOf(
  { request: { formats } }: OpsRequest,
  { appId, userId, wallet, entries, next, isNewest }: Shown & { readonly isNewest: boolean },
): Html {
  const to = (before?: string) => opsPath('wallet', { app: appId, user: userId, before });
  const list = entryTable(
    entries,
    { caption: TEXTS.entries, columns: TEXTS.entryColumns, empty: TEXTS.noEntries, hasTime: true },
    { currency: wallet.currency, formats },
  );
  const pages = pager({
    newer: isNewest ? undefined : { href: to(), text: TEXTS.newest },
    older: next === undefined ? undefined : { href: to(placeText(next)), text: TEXTS.older },
  });
  return card(list, pages);
}
