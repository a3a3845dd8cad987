import { amountField, amountText } from '#web/components/amount-field.ts';
import { appMark } from '#web/components/app-mark.ts';
import { type Formats, formatsOf } from '#web/format/formats.ts';
import { type Html, html } from '#kernel/html.ts';
import { alertOf, noticeOf } from '#web/frame/page-shell.ts';
import { forWalletOwner, type OwnedWallet, spendableOf, stateOf } from '#web/wallet-owner/owned-wallet.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/wallet-owner-services.ts';
import { walletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';
import { WALLET_TEXTS } from '#web/wallet/texts.ts';
import type { PageMethods } from '#web/frame/page-handlers.ts';
import { badgeOf } from '#web/wallet/wallet-list.ts';
import { beforeOf, movementsSection } from '#web/wallet/movements.ts';
import { receiptPage } from '#web/wallet/receipt.ts';
import type { Person } from '#identities/session.ts';

/** `/wallet/:part`: one wallet, what its app may spend, and its movements; with `?receipt=`, one of its calls. */
export function walletPage(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: forWalletOwner(services, async (own) => {
      const query = new URLSearchParams(own.request.exchange.query);
      const receipt = query.get('receipt');
      if (receipt !== null) return receiptPage(services, own, receipt);
      const notice = WALLET_TEXTS.done.get(query.get('done'));
      return { status: 200, page: await showWallet(services, own, { notice, before: beforeOf(query) }) };
    }),
  };
}

interface Shown {
  readonly notice?: string | undefined;
  readonly fault?: string;
  /** What was typed into the field of the cap. */
  readonly cap?: string;
  readonly before?: bigint | undefined;
}

/** The page, with what was just done or went wrong. */
export async function showWallet(services: WalletOwnerServices, own: OwnedWallet, shown: Shown): Promise<Html> {
  const formats = formatsOf(own.request.exchange.request);
  const body = html`<p><a href="/wallet">${WALLET_TEXTS.allApps}</a></p>
${appMark(own.app)}
${alertOf(shown.fault)}${noticeOf(shown.notice)}
${balanceSection(services, own, formats)}
${own.connection.wallet.isConnected ? capSection(own, formats, shown.cap) : undefined}
${await movementsSection(services, own, formats, shown.before)}
${moreSection(services, own)}`;
  return walletOwnerPage(services, {
    title: WALLET_TEXTS.title(own.app.name),
    body,
    isError: shown.fault !== undefined,
  });
}

function balanceSection({ operatorName }: WalletOwnerServices, own: OwnedWallet, { amount }: Formats): Html {
  const { connection, request, path } = own;
  const { wallet, userId, userLabel } = connection;
  const { currency } = wallet;
  const state = stateOf(connection);
  const about = {
    active: undefined,
    paused: WALLET_TEXTS.paused,
    disconnected: WALLET_TEXTS.disconnected,
    blocked: WALLET_TEXTS.blocked(operatorName),
  }[state];
  const topUp = request.form(`${path}/topup`, html`<button>${WALLET_TEXTS.topUp}</button>`);
  const reconnect = request.form(`${path}/reconnect`, html`<button>${WALLET_TEXTS.reconnect}</button>`);
  return html`<section aria-labelledby="balance">
<h2 id="balance">${WALLET_TEXTS.balance} ${badgeOf(state)}</h2>
<p class="amount">${amount(wallet.balance, currency)}</p>
${about === undefined ? undefined : html`<p>${about}</p>`}
<dl>
<dt>${WALLET_TEXTS.onHold}</dt><dd>${amount(wallet.held, currency)}</dd>
<dt>${WALLET_TEXTS.spendable}</dt><dd>${amount(spendableOf(connection), currency)}</dd>
<dt>${WALLET_TEXTS.label}</dt><dd>${userLabel ?? userId}</dd>
</dl>
${wallet.held === 0n ? undefined : html`<p class="soft">${WALLET_TEXTS.onHoldWhy}</p>`}
${wallet.isConnected && !wallet.isSuspended ? topUp : undefined}
${wallet.isConnected ? undefined : reconnect}
</section>`;
}

function capSection({ connection, request, path }: OwnedWallet, { amount }: Formats, typed: string | undefined): Html {
  const { cap, isPaused, wallet } = connection;
  const { currency } = wallet;
  const text = typed ?? (cap === undefined ? '' : amountText(cap));
  const label = WALLET_TEXTS.capField(currency);
  const set = html`${amountField({ name: 'cap', label, text, isRequired: true })}
<button>${WALLET_TEXTS.setCap}</button>`;
  const remove = html`<input type="hidden" name="none" value="yes">
<button class="quiet">${WALLET_TEXTS.removeCap}</button>`;
  const pause = html`<input type="hidden" name="paused" value="${isPaused ? 'no' : 'yes'}">
<button class="quiet">${isPaused ? WALLET_TEXTS.resume : WALLET_TEXTS.pause}</button>`;
  return html`<section aria-labelledby="spending">
<h2 id="spending">${WALLET_TEXTS.capTitle}</h2>
<p>${WALLET_TEXTS.capWhy}${isPaused ? ` ${WALLET_TEXTS.capEndsPause}` : ''}</p>
<dl>
<dt>${WALLET_TEXTS.spentThisMonth}</dt><dd>${amount(wallet.spentThisMonth, currency)}</dd>
<dt>${WALLET_TEXTS.cap}</dt><dd>${cap === undefined ? WALLET_TEXTS.noCap : amount(cap, currency)}</dd>
</dl>
${request.form(`${path}/cap`, set)}
${cap === undefined ? undefined : request.form(`${path}/cap`, remove)}
${request.form(`${path}/pause`, pause)}
</section>`;
}

/** Ways out: each asks on a page of its own. */
function moreSection(
  { refunds }: WalletOwnerServices,
  { connection: { wallet }, path }: OwnedWallet,
): Html | undefined {
  const refund = html`<p><a href="${path}/refund">${WALLET_TEXTS.refundLink}</a></p>`;
  const disconnect = html`<p><a href="${path}/disconnect">${WALLET_TEXTS.disconnectLink}</a></p>`;
  if (!wallet.isConnected && refunds === undefined) return undefined;
  return html`<section aria-labelledby="more">
<h2 id="more">${WALLET_TEXTS.moreTitle}</h2>
${refunds === undefined ? undefined : refund}
${wallet.isConnected ? disconnect : undefined}
</section>`;
}
