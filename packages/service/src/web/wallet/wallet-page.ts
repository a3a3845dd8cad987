import type { Connection } from '#connections/connection.ts';
import type { Person } from '#identities/session.ts';
import { type Html, html } from '#kernel/html.ts';
import { amountField } from '#web/components/amount-field.ts';
import { appMark } from '#web/components/app-mark.ts';
import { button } from '#web/components/button.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { hiddenField } from '#web/components/form.ts';
import { headlineAmount } from '#web/components/money.ts';
import { linkLine } from '#web/components/navigation.ts';
import { errorSummary, successNotice } from '#web/components/notices.ts';
import { section } from '#web/components/section.ts';
import { amountText } from '#web/format/typed-amount.ts';
import type { PageMethods } from '#web/frame/page.ts';
import { movementsSection, startOf } from '#web/wallet/movements.ts';
import { receiptPage } from '#web/wallet/receipt.ts';
import { stateBadge } from '#web/wallet/state-badge.ts';
import { WALLET_TEXTS } from '#web/wallet/texts.ts';
import { forWalletOwner, type OwnedWallet, spendableOf, stateOf } from '#web/wallet-owner/owned-wallet.ts';
import { OWNED_WALLET_TEXTS } from '#web/wallet-owner/texts.ts';
import { walletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/wallet-owner-services.ts';

/** `/wallet/:part`: one wallet, what its app may spend, and its movements. With `?receipt=`, one of its calls. */
export function walletPage(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: forWalletOwner(services, async (own) => {
      const { query } = own.request;
      const receipt = query.get('receipt');
      if (receipt !== null) return receiptPage(services, own, receipt);
      const notice = WALLET_TEXTS.done.get(query.get('done'));
      return { status: 200, page: await showWallet(services, own, { notice, before: startOf(query) }) };
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

/** The page of a wallet, with what was just done or went wrong. */
export async function showWallet(services: WalletOwnerServices, own: OwnedWallet, shown: Shown): Promise<Html> {
  const body = html`${linkLine('/wallet', OWNED_WALLET_TEXTS.allApps)}
${appMark(own.app)}
${errorSummary(shown.fault)}${successNotice(shown.notice)}
${balanceSection(services, own)}
${own.connection.wallet.isConnected ? capSection(own, shown.cap) : undefined}
${await movementsSection(services, own, shown.before)}
${moreSection(services, own)}`;
  const title = WALLET_TEXTS.title(own.app.name);
  return walletOwnerPage(services, { title, body, isError: shown.fault !== undefined });
}

/** The balance, what stands in its way, and the one button that helps: to pay in, to resume, or to connect again. */
function balanceSection({ operatorName }: WalletOwnerServices, { connection, request, path }: OwnedWallet): Html {
  const { formats } = request;
  const { wallet, userId, userLabel } = connection;
  const { currency } = wallet;
  const state = stateOf(connection);
  const about = {
    active: undefined,
    paused: WALLET_TEXTS.paused,
    disconnected: WALLET_TEXTS.disconnected,
    blocked: WALLET_TEXTS.blocked(operatorName),
  }[state];
  return section({
    id: 'balance',
    heading: html`${WALLET_TEXTS.balance} ${stateBadge(state)}`,
    body: [
      headlineAmount({ amount: wallet.balance, currency }, formats),
      about === undefined ? undefined : html`<p>${about}</p>`,
      definitionList([
        [WALLET_TEXTS.onHold, formats.amount(wallet.held, currency)],
        [WALLET_TEXTS.spendable, formats.amount(spendableOf(connection), currency)],
        [WALLET_TEXTS.label, userLabel ?? userId],
      ]),
      wallet.held === 0n ? undefined : html`<p class="soft">${WALLET_TEXTS.onHoldWhy}</p>`,
      // A blocked wallet offers no top-up: money that cannot be spent helps nobody (WA-04).
      state === 'paused' ? request.form(`${path}/pause`, pauseFields(connection)) : undefined,
      wallet.isConnected && !wallet.isSuspended
        ? request.form(`${path}/topup`, button(WALLET_TEXTS.topUp, state === 'paused' ? { kind: 'quiet' } : {}))
        : undefined,
      wallet.isConnected ? undefined : request.form(`${path}/reconnect`, button(WALLET_TEXTS.reconnect)),
    ],
  });
}

/** Pauses, or ends the pause. Ending it is the one button that helps, so it stands beside the balance. */
function pauseFields({ isPaused }: Connection): Html {
  return html`${hiddenField('paused', isPaused ? 'no' : 'yes')}
${isPaused ? button(WALLET_TEXTS.resume) : button(WALLET_TEXTS.pause, { kind: 'quiet' })}`;
}

/** The cap, what of it is spent, and the pause. Three forms, because each button must work by itself, without scripts. */
function capSection({ connection, request, path }: OwnedWallet, typed: string | undefined): Html {
  const { cap, isPaused, wallet } = connection;
  const { currency } = wallet;
  const { amount } = request.formats;
  const text = typed ?? (cap === undefined ? '' : amountText(cap));
  const set = html`${amountField({ name: 'cap', label: WALLET_TEXTS.capField(currency), text, isRequired: true })}
${button(WALLET_TEXTS.setCap)}`;
  const remove = html`${hiddenField('none', 'yes')}
${button(WALLET_TEXTS.removeCap, { kind: 'quiet' })}`;
  return section({
    id: 'spending',
    heading: WALLET_TEXTS.capTitle,
    body: [
      html`<p>${WALLET_TEXTS.capWhy}${isPaused ? ` ${WALLET_TEXTS.capEndsPause}` : ''}</p>`,
      definitionList([
        [WALLET_TEXTS.spentThisMonth, amount(wallet.spentThisMonth, currency)],
        [WALLET_TEXTS.cap, cap === undefined ? WALLET_TEXTS.noCap : amount(cap, currency)],
      ]),
      request.form(`${path}/cap`, set),
      cap === undefined ? undefined : request.form(`${path}/cap`, remove),
      isPaused && !wallet.isSuspended ? undefined : request.form(`${path}/pause`, pauseFields(connection)),
    ],
  });
}

/** The ways out. Each leads to a page that says what it does and asks once more. */
function moreSection({ refunds }: WalletOwnerServices, { connection, path }: OwnedWallet): Html | undefined {
  const { isConnected } = connection.wallet;
  if (!isConnected && refunds === undefined) return undefined;
  return section({
    id: 'more',
    heading: WALLET_TEXTS.moreTitle,
    body: [
      refunds === undefined ? undefined : linkLine(`${path}/refund`, WALLET_TEXTS.refundLink),
      isConnected ? linkLine(`${path}/disconnect`, WALLET_TEXTS.disconnectLink) : undefined,
    ],
  });
}
