import { parseAmount } from '#web/components/amount-field.ts';
import { appMark } from '#web/components/app-mark.ts';
import { html } from '#kernel/html.ts';
import { forWalletOwner, nothingHere, toConnection } from '#web/wallet-owner/owned-wallet.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/wallet-owner-services.ts';
import { walletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';
import { AMOUNT_TEXTS } from '#web/components/texts.ts';
import { WALLET_TEXTS } from '#web/wallet/texts.ts';
import { type PageResponse, type PageMethods, redirectTo, refusedBy } from '#web/frame/page-handlers.ts';
import { showWallet } from '#web/wallet/wallet-page.ts';
import type { Person } from '#identities/session.ts';
import { refuse } from '#kernel/refusal.ts';

/** `/wallet/:part/cap`: sets the monthly cap, or removes it. */
export function capPage(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: toConnection,
    POST: forWalletOwner(services, async (own, form) => {
      const isNone = form.field('none') === 'yes';
      const cap = isNone ? undefined : parseAmount(form.field('cap'));
      if (!isNone && cap === undefined) {
        const fault = AMOUNT_TEXTS.fault;
        const page = await showWallet(services, own, { fault, cap: form.field('cap') });
        return refusedBy(refuse('BAD_REQUEST', fault), page);
      }
      const isSet = await services.connections.setCap(own.owner, cap);
      return changed(services, own.path, isSet, isNone ? 'no-cap' : 'cap');
    }),
  };
}

/** `/wallet/:part/pause`: stops spending for a while, or lets it go on with the cap that was set. */
export function pausePage(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: toConnection,
    POST: forWalletOwner(services, async ({ owner, path }, form) => {
      const isPaused = form.field('paused') !== 'no';
      const isSet = await services.connections.setPaused(owner, isPaused);
      return changed(services, path, isSet, isPaused ? 'paused' : 'resumed');
    }),
  };
}

/** `/wallet/:part/disconnect`: says what it does to the money, then stops spending at once (ON-05). */
export function disconnectPage(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: forWalletOwner(services, ({ request, app, path }) => {
      const body = html`<div class="card">
${appMark(app)}
${WALLET_TEXTS.disconnectWhat.map((sentence) => html`<p>${sentence}</p>`)}
<div class="row">
${request.form(`${path}/disconnect`, html`<button class="danger">${WALLET_TEXTS.disconnectYes}</button>`)}
<a href="${path}">${WALLET_TEXTS.disconnectNo}</a>
</div>
</div>`;
      return { status: 200, page: walletOwnerPage(services, { title: WALLET_TEXTS.disconnectTitle(app.name), body }) };
    }),
    POST: forWalletOwner(services, async ({ owner, path }) => {
      return changed(services, path, await services.connections.setConnected(owner, false), 'disconnected');
    }),
  };
}

/** `/wallet/:part/reconnect`: the same wallet, as it was left (ON-05). */
export function reconnectPage(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: toConnection,
    POST: forWalletOwner(services, async ({ owner, path }) => {
      return changed(services, path, await services.connections.setConnected(owner, true), 'reconnected');
    }),
  };
}

/** `/wallet/:part/topup`: the way to the top-up page, for which the owner of a wallet needs no app. */
export function topUpPage(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: toConnection,
    POST: forWalletOwner(services, ({ connection: { appId, userId } }) =>
      redirectTo(new URL(services.links.topup({ appId, userId })).pathname),
    ),
  };
}

function changed(services: WalletOwnerServices, path: string, isChanged: boolean, done: string): PageResponse {
  return isChanged ? redirectTo(`${path}?done=${done}`) : nothingHere(services);
}
