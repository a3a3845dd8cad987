import { checkFields } from '@purser/contract/check-fields.ts';
import { WALLET_SORTS, WALLET_STATUSES, walletListQuerySchema } from '@purser/contract/operator-wallets.ts';
import { walletFilterOf } from '#http/operator-plane/money/wallet-list.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { ListedWallet, ListedWallets } from '#operator/money/wallet-list.ts';
import { buttonLink, row } from '#web/components/button.ts';
import { filterForm } from '#web/fields/filter.ts';
import { moment } from '#web/figures/moment.ts';
import { pager } from '#web/components/navigation.ts';
import { errorSummary } from '#web/components/notices.ts';
import { card } from '#web/components/section.ts';
import { table } from '#web/figures/table.ts';
import { AMOUNT_TEXTS } from '#web/components/texts.ts';
import { parseAmount } from '#web/format/typed-amount.ts';
import type { PageMethods } from '#web/frame/page.ts';
import { forOperator, type OpsRequest } from '#web/ops/frame/for-operator.ts';
import { showOpsPage } from '#web/ops/frame/ops-page.ts';
import { ofCells } from '#web/ops/frame/of-cells.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import type { OpsServices } from '#web/ops/frame/services.ts';
import { type AppNames, appLink } from '#web/ops/frame/links.ts';
import { stateBadges } from '#web/ops/wallets/parts.ts';
import { WALLETS_TEXTS as TEXTS } from '#web/ops/wallets/texts.ts';

const PAGE_WALLETS = 50;
/** The fields of the filter, as the address has them. */
const FIELDS = ['app', 'user', 'status', 'minHeld', 'minBalance', 'maxBalance', 'from', 'before', 'sort'] as const;

type Typed = Readonly<Record<(typeof FIELDS)[number], string>>;

/** Makes the page `/ops/wallets`, which lists wallets of all apps. */
export function walletsPage(services: OpsServices): PageMethods {
  return forOperator(services, {
    GET: async (asked) => {
      const { query } = asked.request;
      const typed = Object.fromEntries(FIELDS.map((name) => [name, query.get(name)?.trim() ?? ''])) as Typed;
      const after = query.get('after') ?? '';
      const found = await listed(services, typed, after);
      const refusal = 'code' in found ? found : undefined;
      const listedApps = 'code' in found ? [] : found.wallets.map(({ appId }) => appId);
      const names = await services.operator.apps.names(listedApps);
      const body = html`${errorSummary(refusal?.message)}<p class="soft">${TEXTS.what}</p>${ofCells(services.operator.cell, TEXTS.otherCells)}
${filterForm(opsPath('wallets'), 'live', fieldsOf(typed))}
${'code' in found ? undefined : listOf(asked, { ...found, typed, after, names, cell: services.operator.cell })}
${row(
  asked.may('wallet-open') ? buttonLink(opsPath('wallet-open', { app: typed.app }), TEXTS.open, 'quiet') : undefined,
  buttonLink(opsPath('person'), TEXTS.find, 'quiet'),
)}`;
      return showOpsPage(services, asked, { title: TEXTS.title, body, page: 'wallets', refusal });
    },
  });
}

/** A page of wallets, by the rules of the route that lists them. */
async function listed(
  { operator }: OpsServices,
  typed: Typed,
  after: string,
): Promise<ListedWallets | Refusal<'BAD_REQUEST'>> {
  const amounts = [typed.minHeld, typed.minBalance, typed.maxBalance].map((text) =>
    text === '' ? undefined : (parseAmount(text)?.toString() ?? 'unread'),
  );
  if (amounts.includes('unread')) return refuse('BAD_REQUEST', AMOUNT_TEXTS.fault);
  const [minHeldMicros, minBalanceMicros, maxBalanceMicros] = amounts;
  const asked = {
    appId: setOf(typed.app),
    userId: setOf(typed.user),
    status: setOf(typed.status),
    // A search by user has an order of its own.
    sort: typed.user === '' ? setOf(typed.sort) : undefined,
    openedFrom: momentTyped(typed.from),
    openedBefore: momentTyped(typed.before),
    after: setOf(after),
    minHeldMicros,
    minBalanceMicros,
    maxBalanceMicros,
  };
  const checked = checkFields(walletListQuerySchema, asked, NAMES);
  if ('problems' in checked) {
    return refuse('BAD_REQUEST', checked.problems.map(({ message }) => message).join(' '));
  }
  const { value } = checked;
  return operator.walletList.page(walletFilterOf(value), {
    isOldestFirst: value.sort === 'oldest',
    after: value.after,
    most: PAGE_WALLETS,
  });
}

/** What this page calls the fields of the route. */
const NAMES = {
  appId: TEXTS.app,
  userId: TEXTS.user,
  status: TEXTS.status,
  sort: TEXTS.sort,
  openedFrom: TEXTS.openedFrom,
  openedBefore: TEXTS.openedBefore,
  minHeldMicros: TEXTS.minHeld,
  minBalanceMicros: TEXTS.minBalance,
  maxBalanceMicros: TEXTS.maxBalance,
};

function setOf(text: string): string | undefined {
  return text === '' ? undefined : text;
}

/** A browser writes a moment without seconds if they are zero, and without a time zone. */
function momentTyped(text: string): string | undefined {
  if (text === '') return undefined;
  return /T\d\d:\d\d$/.test(text) ? `${text}:00Z` : `${text}Z`;
}

function choices(names: readonly string[], texts: Readonly<Record<string, string>>) {
  return names.map((value) => ({ value, text: texts[value] ?? value }));
}

function fieldsOf(typed: Typed) {
  return [
    { name: 'app', label: TEXTS.app, value: typed.app },
    { name: 'user', label: TEXTS.user, value: typed.user },
    {
      name: 'status',
      label: TEXTS.status,
      value: typed.status,
      choices: [{ value: '', text: TEXTS.all }, ...choices(WALLET_STATUSES, TEXTS.statuses)],
    },
    { name: 'sort', label: TEXTS.sort, value: typed.sort, choices: choices(WALLET_SORTS, TEXTS.sorts) },
    { name: 'minHeld', label: TEXTS.minHeld, value: typed.minHeld },
    { name: 'minBalance', label: TEXTS.minBalance, value: typed.minBalance },
    { name: 'maxBalance', label: TEXTS.maxBalance, value: typed.maxBalance },
    { name: 'from', label: TEXTS.openedFrom, value: typed.from, type: 'datetime-local' as const },
    { name: 'before', label: TEXTS.openedBefore, value: typed.before, type: 'datetime-local' as const },
  ];
}

function listOf(
  asked: OpsRequest,
  {
    wallets,
    next,
    typed,
    after,
    names,
    cell,
  }: ListedWallets & {
    readonly cell: string | undefined;
    readonly typed: Typed;
    readonly after: string;
    readonly names: AppNames;
  },
): Html {
  const isNarrowed = Object.entries(typed).some(([name, value]) => name !== 'sort' && value !== '');
  const list = table({
    caption: TEXTS.caption,
    columns: [
      ...TEXTS.columns.map((name, at) => ({ name, isNumeric: at > 2 && at < 6 })),
      ...(cell === undefined ? [] : [{ name: TEXTS.cell }]),
    ],
    rows: wallets.map((wallet) => [
      ...rowOf(asked, wallet, { names, own: cell }),
      ...(cell === undefined ? [] : [wallet.cell ?? cell]),
    ]),
    empty: next !== undefined ? TEXTS.goOn : isNarrowed || after !== '' ? TEXTS.none : TEXTS.noneYet,
  });
  const pages = pager({
    newer: after === '' ? undefined : { href: opsPath('wallets', typed), text: TEXTS.first },
    older: next === undefined ? undefined : { href: opsPath('wallets', { ...typed, after: next }), text: TEXTS.more },
  });
  return card(list, pages);
}

function rowOf(
  { role, request: { formats } }: OpsRequest,
  wallet: ListedWallet,
  { names, own }: { readonly names: AppNames; readonly own: string | undefined },
): readonly (Html | string)[] {
  const { appId, userId, currency, balance, held, shortfall, openedAtMs } = wallet;
  return [
    wallet.cell === own
      ? html`<a href="${opsPath('wallet', { app: appId, user: userId })}"><code>${userId}</code></a>`
      : html`<code>${userId}</code>`,
    appLink(role, appId, names),
    stateBadges(wallet),
    formats.amount(balance, currency),
    formats.amount(held, currency),
    shortfall === 0n ? '' : formats.amount(shortfall, currency),
    moment(openedAtMs, formats),
  ];
}
