import type { ListedConnection } from '#http/cells/wallets/people.ts';
import type { Person } from '#people/session.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { hiddenField } from '#web/fields/fields.ts';
import { warningNotice } from '#web/components/notices.ts';
import { appMark, button, card, definitionList, linkLine, list, pager, row, section } from '#web/components/parts.ts';
import type { Formats } from '#web/format/formats.ts';
import { alignerOf, stateBadge } from '#web/wallet/wallet-parts.ts';
import { WALLET_TEXTS } from '#web/wallet/texts.ts';
import { toCell } from '#web/wallet-owner/other-cells.ts';
import { faceOf, type OwnedWallet, spendableOf, stateOf } from '#web/wallet-owner/owned-wallet.ts';
import { DATA, PASSKEYS, SIGN_OUT, toSignIn } from '#web/wallet-owner/return-path.ts';
import type { WalletOwnerMethods, WalletOwnerRequest, WalletOwnerServices } from '#web/wallet-owner/services.ts';
import { showWalletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';

/** Twenty apps with the longest names keep the page under 50 KB. */
const APPS_SHOWN_MAX = 20;
const COUNT = /^\d{1,3}$/;

/** A wallet of this person, and the address of its page, here or in another cell. */
interface Listed {
  readonly connection: ListedConnection;
  readonly href: string;
}

interface Shown extends Listed {
  readonly app: OwnedWallet['app'];
}

/**
 * Makes the page `/wallet`, which shows every app that a person has connected, what it can still spend, and the way to
 * sign out.
 */
export const walletListPage: WalletOwnerMethods = {
  GET: async (request) => {
    const { services, signedIn, formats } = request;
    if (signedIn === undefined) return toSignIn('/wallet');
    const { wallets, isWhole } = await walletsOf(services, signedIn);
    const all = wallets.toSorted(connectedFirst);
    const from = fromOf(request.query);
    const shown = await Promise.all(
      all
        .slice(from, from + APPS_SHOWN_MAX)
        .map(async (listed) => ({ ...listed, app: await faceOf(services, listed.connection) })),
    );
    const connected = shown.filter(({ connection }) => connection.wallet.isConnected);
    const others = shown.filter(({ connection }) => !connection.wallet.isConnected);
    const body = html`<p>${WALLET_TEXTS.listLead(signedIn.identity.email)}</p>
${isWhole ? undefined : warningNotice(WALLET_TEXTS.inPart)}
${all.length === 0 && isWhole ? card(html`<p>${WALLET_TEXTS.empty}</p>`) : undefined}
${appsSection('apps', WALLET_TEXTS.connectedApps, connected, formats)}
${appsSection('disconnected', WALLET_TEXTS.disconnectedApps, others, formats)}
${otherPages(from, all.length)}
${signedInSection(request)}`;
    return showWalletOwnerPage(services, { title: WALLET_TEXTS.listTitle, body });
  },
};

/** The wallets here, and those in other cells. While a wallet moves it may be in two cells, and is listed once. */
async function walletsOf(
  { connections, otherCells }: WalletOwnerServices,
  { identity }: Person,
): Promise<{ readonly wallets: readonly Listed[]; readonly isWhole: boolean }> {
  const [here, there] = await Promise.all([
    connections.list(identity.identityId),
    otherCells?.walletsOf(identity.email),
  ]);
  const near = here.map((connection) => ({ connection, href: `/wallet/${connection.connectionId}` }));
  if (there === undefined) return { wallets: near, isWhole: true };
  const far = there.wallets.map(({ connection, cell }) => ({
    connection,
    href: toCell(cell, `/wallet/${connection.connectionId}`),
  }));
  const byId = new Map([...far, ...near].map((listed) => [listed.connection.connectionId, listed]));
  return { wallets: [...byId.values()].toSorted(newestFirst), isWhole: there.isWhole };
}

function newestFirst({ connection: one }: Listed, { connection: other }: Listed): number {
  return other.consentedAtMs - one.consentedAtMs;
}

/** `toSorted` is stable, so each group keeps its order. */
function connectedFirst({ connection: one }: Listed, { connection: other }: Listed): number {
  return Number(other.wallet.isConnected) - Number(one.wallet.isConnected);
}

/** The first app to show. Anybody can type the address, so anything but a short number is the start of the list. */
function fromOf(query: URLSearchParams): number {
  const from = query.get('from') ?? '';
  return COUNT.test(from) ? Number(from) : 0;
}

function pageFrom(first: number, text: string) {
  return { href: `/wallet?from=${first}`, text };
}

/** The whole list is read and cut here: nobody has so many apps that the database should count pages. */
function otherPages(from: number, count: number): Html | undefined {
  const next = from + APPS_SHOWN_MAX;
  return pager({
    newer: from > 0 ? pageFrom(Math.max(0, from - APPS_SHOWN_MAX), WALLET_TEXTS.newer) : undefined,
    older: next < count ? pageFrom(next, WALLET_TEXTS.older) : undefined,
  });
}

function appsSection(id: string, heading: string, apps: readonly Shown[], formats: Formats): Html | undefined {
  if (apps.length === 0) return undefined;
  return section({ id, heading, body: [list(apps.map((one) => appItem(one, formats)))] });
}

/** One app: the balance first, because that is what people come for. */
function appItem({ connection, app, href }: Shown, formats: Formats): Html {
  const { wallet, cap, userLabel } = connection;
  const { balance, held, spentThisMonth } = wallet;
  const spendable = spendableOf(connection);
  const amount = alignerOf([balance, held, spendable, spentThisMonth, cap], wallet.currency, formats);
  const label = userLabel === undefined ? undefined : html` <span class="soft">${userLabel}</span>`;
  return html`
<div><a href="${href}">${appMark(app)}</a>
<p>${stateBadge(stateOf(connection))}${label}</p></div>
${definitionList([
  [WALLET_TEXTS.balance, amount(balance)],
  [WALLET_TEXTS.onHold, amount(held)],
  [WALLET_TEXTS.spendable, amount(spendable)],
  [WALLET_TEXTS.spentThisMonth, amount(spentThisMonth)],
  [WALLET_TEXTS.cap, cap === undefined ? WALLET_TEXTS.noCap : amount(cap)],
])}
`;
}

/** Offers signing out, here and everywhere, within reach of the page that people see first. */
function signedInSection(request: WalletOwnerRequest): Html {
  const everywhere = html`${hiddenField('everywhere', 'yes')}
${button(WALLET_TEXTS.signOutEverywhere, { kind: 'quiet' })}`;
  return section({
    id: 'signing-in',
    heading: WALLET_TEXTS.signingIn,
    body: [
      linkLine(PASSKEYS, WALLET_TEXTS.passkeys),
      linkLine(DATA, WALLET_TEXTS.data),
      row(request.form(SIGN_OUT, button(WALLET_TEXTS.signOut, { kind: 'quiet' })), request.form(SIGN_OUT, everywhere)),
    ],
  });
}
