import { ALERT_SHARES } from '#connections/alerts.ts';
import { html } from '#kernel/text/html.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import { appMark, button, card, paragraphs, row } from '#web/components/parts.ts';
import { alertField } from '#web/wallet/wallet-parts.ts';
import { AMOUNT_TEXTS } from '#web/components/texts.ts';
import { parseAmount } from '#web/format/typed-amount.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';
import { WALLET_TEXTS } from '#web/wallet/texts.ts';
import { showWallet } from '#web/wallet/wallet-page.ts';
import { forWalletOwner, nothingHere, type OwnedWallet } from '#web/wallet-owner/owned-wallet.ts';
import { showWalletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';

/** Makes the form `/wallet/:part/cap`, which sets the monthly cap or removes it. */
export const capForm = forWalletOwner({
  POST: async (own, form) => {
    // Removing is a form of its own. An empty field is refused: it must not lift a cap by accident.
    const isNone = form.field('none') === 'yes';
    const cap = isNone ? undefined : parseAmount(form.field('cap'));
    if (!isNone && cap === undefined) {
      return showWallet(own, { refusal: refuse('BAD_REQUEST', AMOUNT_TEXTS.fault), cap: form.field('cap') });
    }
    return changed(own, await own.services.connections.setCap(own.owner, cap), isNone ? 'no-cap' : 'cap');
  },
});

/**
 * Makes the form `/wallet/:part/alerts`, which sets the shares of the cap that the owner wants mails about. If none is
 * chosen, the mails end.
 */
export const alertsForm = forWalletOwner({
  POST: async (own, form) => {
    const shares = ALERT_SHARES.filter((share) => form.field(alertField(share)) === 'yes');
    const isSet = await own.services.alerts.set(own.owner, shares);
    return changed(own, isSet, shares.length === 0 ? 'no-alerts' : 'alerts');
  },
});

/**
 * Makes the form `/wallet/:part/pause`, which stops spending for a while, or lets it go on with the cap that was set
 * before.
 */
export const pauseForm = forWalletOwner({
  POST: async (own, form) => {
    const isPaused = form.field('paused') !== 'no';
    const isSet = await own.services.connections.setPaused(own.owner, isPaused);
    return changed(own, isSet, isPaused ? 'paused' : 'resumed');
  },
});

/**
 * Makes the page `/wallet/:part/disconnect`, which says what happens to the money, asks, and then stops spending at
 * once (ON-05).
 */
export const disconnectPage = forWalletOwner({
  GET: ({ services, request, app, path }) => {
    const yes = request.form(`${path}/disconnect`, button(WALLET_TEXTS.disconnectYes, { kind: 'danger' }));
    const no = html`<a href="${path}">${WALLET_TEXTS.disconnectNo}</a>`;
    const body = card(appMark(app), paragraphs(WALLET_TEXTS.disconnectWhat), row(yes, no));
    return showWalletOwnerPage(services, { title: WALLET_TEXTS.disconnectTitle(app.name), body });
  },
  POST: async (own) => changed(own, await own.services.connections.setConnected(own.owner, false), 'disconnected'),
});

/** Makes the form `/wallet/:part/reconnect`, which connects the same wallet again, as it was left (ON-05). */
export const reconnectForm = forWalletOwner({
  POST: async (own) => changed(own, await own.services.connections.setConnected(own.owner, true), 'reconnected'),
});

/**
 * Makes the form `/wallet/:part/topup`, which leads to the top-up page. An owner needs no refused call, and no app, to
 * pay in.
 */
export const topUpForm = forWalletOwner({
  POST: ({ services, connection: { appId, userId } }) =>
    redirectTo(new URL(services.links.topup({ appId, userId })).pathname),
});

/** If nothing was changed, this owner has no such connection. */
function changed({ services, path }: OwnedWallet, isChanged: boolean, done: string): PageResponse {
  return isChanged ? redirectTo(`${path}?done=${done}`) : nothingHere(services);
}
