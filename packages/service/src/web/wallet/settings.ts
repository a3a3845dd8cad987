import type { Person } from '#people/session.ts';
import { ALERT_SHARES } from '#connections/alerts.ts';
import { html } from '#kernel/text/html.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import { appMark } from '#web/components/app-mark.ts';
import { button, row } from '#web/components/button.ts';
import { paragraphs } from '#web/components/list.ts';
import { card } from '#web/components/section.ts';
import { alertField } from '#web/wallet/alert-fields.ts';
import { AMOUNT_TEXTS } from '#web/components/texts.ts';
import { parseAmount } from '#web/format/typed-amount.ts';
import type { PageMethods, PageResponse } from '#web/frame/page.ts';
import { redirectTo, refusedBy } from '#web/frame/responses.ts';
import { WALLET_TEXTS } from '#web/wallet/texts.ts';
import { showWallet } from '#web/wallet/wallet-page.ts';
import { forWalletOwner, nothingHere, toWallet } from '#web/wallet-owner/owned-wallet.ts';
import { walletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/services.ts';

/** Makes the form `/wallet/:part/cap`, which sets the monthly cap or removes it. */
export function capForm(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: toWallet,
    POST: forWalletOwner(services, async (own, form) => {
      // Removing is a form of its own. An empty field is refused: it must not lift a cap by accident.
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

/**
 * Makes the form `/wallet/:part/alerts`, which sets the shares of the cap that the owner wants mails about. If none is
 * chosen, the mails end.
 */
export function alertsForm(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: toWallet,
    POST: forWalletOwner(services, async ({ owner, path }, form) => {
      const shares = ALERT_SHARES.filter((share) => form.field(alertField(share)) === 'yes');
      const isSet = await services.alerts.set(owner, shares);
      return changed(services, path, isSet, shares.length === 0 ? 'no-alerts' : 'alerts');
    }),
  };
}

/**
 * Makes the form `/wallet/:part/pause`, which stops spending for a while, or lets it go on with the cap that was set
 * before.
 */
export function pauseForm(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: toWallet,
    POST: forWalletOwner(services, async ({ owner, path }, form) => {
      const isPaused = form.field('paused') !== 'no';
      const isSet = await services.connections.setPaused(owner, isPaused);
      return changed(services, path, isSet, isPaused ? 'paused' : 'resumed');
    }),
  };
}

/**
 * Makes the page `/wallet/:part/disconnect`, which says what happens to the money, asks, and then stops spending at
 * once (ON-05).
 */
export function disconnectPage(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: forWalletOwner(services, ({ request, app, path }) => {
      const yes = request.form(`${path}/disconnect`, button(WALLET_TEXTS.disconnectYes, { kind: 'danger' }));
      const no = html`<a href="${path}">${WALLET_TEXTS.disconnectNo}</a>`;
      const body = card(appMark(app), paragraphs(WALLET_TEXTS.disconnectWhat), row(yes, no));
      return { status: 200, page: walletOwnerPage(services, { title: WALLET_TEXTS.disconnectTitle(app.name), body }) };
    }),
    POST: forWalletOwner(services, async ({ owner, path }) => {
      return changed(services, path, await services.connections.setConnected(owner, false), 'disconnected');
    }),
  };
}

/** Makes the form `/wallet/:part/reconnect`, which connects the same wallet again, as it was left (ON-05). */
export function reconnectForm(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: toWallet,
    POST: forWalletOwner(services, async ({ owner, path }) => {
      return changed(services, path, await services.connections.setConnected(owner, true), 'reconnected');
    }),
  };
}

/**
 * Makes the form `/wallet/:part/topup`, which leads to the top-up page. An owner needs no refused call, and no app, to
 * pay in.
 */
export function topUpForm(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: toWallet,
    POST: forWalletOwner(services, ({ connection: { appId, userId } }) =>
      redirectTo(new URL(services.links.topup({ appId, userId })).pathname),
    ),
  };
}

/** If nothing was changed, this owner has no such connection. */
function changed(services: WalletOwnerServices, path: string, isChanged: boolean, done: string): PageResponse {
  return isChanged ? redirectTo(`${path}?done=${done}`) : nothingHere(services);
}
