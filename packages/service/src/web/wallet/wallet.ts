import type { Connection } from '#connections/connection.ts';
import { appMark } from '#web/components/app-mark.ts';
import { type Formats, formatsOf } from '#web/components/format.ts';
import { type Html, html } from '#kernel/html.ts';
import { faceOf, type OwnVisit, spendableOf, stateOf, type WalletState } from '#web/person/own-connection.ts';
import type { PeoplePages } from '#web/person/people-pages.ts';
import { personPage } from '#web/person/person-page.ts';
import { WALLET_TEXTS } from '#web/wallet/texts.ts';
import { PASSKEYS, SIGN_OUT, toSignIn } from '#web/components/return-path.ts';
import type { PageMethods, Visit } from '#web/frame/visit.ts';
import type { Person } from '#identities/session.ts';

/** As many as a page bears with the longest names. */
const APPS_SHOWN_MAX = 20;
const COUNT = /^\d{1,3}$/;

interface Shown {
  readonly connection: Connection;
  readonly app: OwnVisit['app'];
}

/** `/wallet`: everything that a person has connected, what he can still spend there, and signing out. */
export function walletPage(pages: PeoplePages): PageMethods<Person> {
  return {
    GET: async (visit) => {
      const { signedIn } = visit;
      if (signedIn === undefined) return toSignIn('/wallet');
      const all = (await pages.connections.list(signedIn.identity.identityId)).toSorted(connectedFirst);
      const from = fromOf(visit.exchange.query);
      const shown = await Promise.all(
        all
          .slice(from, from + APPS_SHOWN_MAX)
          .map(async (connection) => ({ connection, app: await faceOf(pages, connection) })),
      );
      const formats = formatsOf(visit.exchange.request);
      const connected = shown.filter(({ connection }) => connection.wallet.isConnected);
      const others = shown.filter(({ connection }) => !connection.wallet.isConnected);
      const body = html`<p>${WALLET_TEXTS.listLead(signedIn.identity.email)}</p>
${all.length === 0 ? html`<div class="card"><p>${WALLET_TEXTS.empty}</p></div>` : undefined}
${appsSection('apps', WALLET_TEXTS.connectedApps, connected, formats)}
${appsSection('disconnected', WALLET_TEXTS.disconnectedApps, others, formats)}
${otherPages(from, all.length)}
${signedInSection(visit)}`;
      return { status: 200, page: personPage(pages, { title: WALLET_TEXTS.listTitle, body }) };
    },
  };
}

function connectedFirst(one: Connection, other: Connection): number {
  return Number(other.wallet.isConnected) - Number(one.wallet.isConnected);
}

function fromOf(query: string): number {
  const from = new URLSearchParams(query).get('from') ?? '';
  return COUNT.test(from) ? Number(from) : 0;
}

function otherPages(from: number, count: number): Html | undefined {
  if (from === 0 && count <= APPS_SHOWN_MAX) return undefined;
  const newer = html`<a href="/wallet?from=${Math.max(0, from - APPS_SHOWN_MAX)}">${WALLET_TEXTS.newer}</a>`;
  const older = html`<a href="/wallet?from=${from + APPS_SHOWN_MAX}">${WALLET_TEXTS.older}</a>`;
  return html`<p class="row">${from > 0 ? newer : undefined} ${from + APPS_SHOWN_MAX < count ? older : undefined}</p>`;
}

function appsSection(id: string, title: string, apps: readonly Shown[], formats: Formats): Html | undefined {
  if (apps.length === 0) return undefined;
  return html`<section aria-labelledby="${id}">
<h2 id="${id}">${title}</h2>
<ul>
${apps.map((one) => appItem(one, formats))}
</ul>
</section>`;
}

function appItem({ connection, app }: Shown, { amount }: Formats): Html {
  const { wallet, cap, userLabel } = connection;
  const { currency } = wallet;
  const spent = amount(wallet.spentThisMonth, currency);
  return html`<li>
<div><a href="/wallet/${connection.connectionId}">${appMark(app)}</a>
<p>${badgeOf(stateOf(connection))}${userLabel === undefined ? undefined : html` <span class="soft">${userLabel}</span>`}</p></div>
<dl>
<dt>${WALLET_TEXTS.balance}</dt><dd>${amount(wallet.balance, currency)}</dd>
<dt>${WALLET_TEXTS.onHold}</dt><dd>${amount(wallet.held, currency)}</dd>
<dt>${WALLET_TEXTS.spendable}</dt><dd>${amount(spendableOf(connection), currency)}</dd>
<dt>${WALLET_TEXTS.spentThisMonth}</dt><dd>${spent}</dd>
<dt>${WALLET_TEXTS.cap}</dt><dd>${cap === undefined ? WALLET_TEXTS.noCap : amount(cap, currency)}</dd>
</dl>
</li>
`;
}

/** A state as a badge; one that keeps the app from spending stands out. */
export function badgeOf(state: WalletState): Html {
  return html`<span class="badge${state === 'active' ? '' : ' warn'}">${WALLET_TEXTS.state(state)}</span>`;
}

function signedInSection(visit: Visit<Person>): Html {
  const everywhere = html`<input type="hidden" name="everywhere" value="yes">
<button class="quiet">${WALLET_TEXTS.signOutEverywhere}</button>`;
  return html`<section aria-labelledby="signing-in">
<h2 id="signing-in">${WALLET_TEXTS.signingIn}</h2>
<p><a href="${PASSKEYS}">${WALLET_TEXTS.passkeys}</a></p>
<div class="row">
${visit.form(SIGN_OUT, html`<button class="quiet">${WALLET_TEXTS.signOut}</button>`)}
${visit.form(SIGN_OUT, everywhere)}
</div>
</section>`;
}
