import { walletListQuerySchema } from '@purser/contract/operator-wallets.ts';
import { walletFilterOf } from '#http/operator-plane/money/wallets.ts';
import { html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { ListedWallet } from '#operator/money/wallets.ts';
import { buttonLink, row } from '#web/components/button.ts';
import { AMOUNT_TEXTS } from '#web/components/texts.ts';
import { parseAmount } from '#web/format/typed-amount.ts';
import { checked } from '#web/forms/checked.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { code, ofCells } from '#web/ops/frame/details.ts';
import { choicesOf, listPage, type Typed } from '#web/ops/frame/list-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { stateBadges } from '#web/ops/wallets/parts.ts';
import { WALLETS_TEXTS as TEXTS } from '#web/ops/wallets/texts.ts';

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
