import type { Connection } from '#connections/connection.ts';
import type { Refusal } from '#kernel/faults/refusal.ts';
import { type Html, html } from '#kernel/text/html.ts';
import type { WalletDays } from '#ledger/history/movements.ts';
import type { Place } from '#ledger/history/place.ts';
import { amountField, hiddenField } from '#web/fields/fields.ts';
import { headlineAmount } from '#web/figures/figures.ts';
import { errorSummary, successNotice } from '#web/components/notices.ts';
import { appMark, button, definitionList, fold, linkLine, row, section } from '#web/components/parts.ts';
import { amountText } from '#web/format/typed-amount.ts';
import type { PageResponse } from '#web/frame/page.ts';
import { dayPage, receiptPage } from '#web/movements/pages.ts';
import { DAYS_READ_MAX, daysSection } from '#web/movements/day-list.ts';
import { monthChart } from '#web/movements/month-chart.ts';
import { startOf } from '#web/movements/movements.ts';
import { alertFields, alignerOf, stateBadge } from '#web/wallet/wallet-parts.ts';
import { WALLET_TEXTS } from '#web/wallet/texts.ts';
import {
  forWalletOwner,
  type OwnedWallet,
  spendableOf,
  stateOf,
  type WalletState,
} from '#web/wallet-owner/owned-wallet.ts';
import { LINK_TEXTS, OWNED_WALLET_TEXTS } from '#web/wallet-owner/texts.ts';
import { showWalletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';

/**
 * Makes the page `/wallet/:part`, which shows one wallet, what its app may spend, and its movements. With `?receipt=`,
 * it shows one of its calls.
 */
export const walletPage = forWalletOwner({
  GET: (own) => {
    const { query } = own.request;
    const receipt = query.get('receipt');
    if (receipt !== null) return receiptPage(own, receipt);
    const day = query.get('day');
    if (day !== null) return dayPage(own, day);
    return showWallet(own, { notice: WALLET_TEXTS.done.get(query.get('done')), before: startOf(query) });
  },
});

interface Shown {
  readonly notice?: string | undefined;
  readonly refusal?: Refusal;
  /** What was typed into the field of the cap. */
  readonly cap?: string;
  readonly before?: Place | undefined;
}

/** The page of a wallet, with what was just done or went wrong. */
export async function showWallet(own: OwnedWallet, shown: Shown): Promise<PageResponse> {
  const { services } = own;
  const { movements, clock } = services;
  const alerts = await services.alerts.find(own.connection.connectionId);
  const days = await movements.days(own.wallet, { before: shown.before, most: DAYS_READ_MAX });
  const chart = shown.before === undefined ? monthOf(own, days, clock.nowMs()) : undefined;
  const body = html`${row(html`<a href="/wallet">${OWNED_WALLET_TEXTS.allApps}</a>`, wayToApp(own.app))}
${appMark(own.app)}
${errorSummary(shown.refusal?.message)}${successNotice(shown.notice)}
${balanceSection(own)}
${own.connection.wallet.isConnected ? capSection(own, chart, alerts, shown) : undefined}
${await daysSection(own, days, shown.before)}
${moreSection(own)}`;
  return showWalletOwnerPage(services, { title: WALLET_TEXTS.title(own.app.name), body, refusal: shown.refusal });
}

/** The balance, what stands in its way, and what helps: to pay in, to resume, or to connect again. */
function balanceSection({ services, connection, request, path }: OwnedWallet): Html {
  const { formats } = request;
  const { wallet, userId, userLabel } = connection;
  const { currency } = wallet;
  const state = stateOf(connection);
  const spendable = spendableOf(connection);
  const amount = alignerOf([wallet.held, spendable], currency, formats);
  const about = {
    active: undefined,
    paused: WALLET_TEXTS.paused,
    disconnected: WALLET_TEXTS.disconnected,
    blocked: WALLET_TEXTS.blocked(services.operatorName),
  }[state];
  return section({
    id: 'balance',
    heading: html`${WALLET_TEXTS.balance} ${stateBadge(state)}`,
    body: [
      headlineAmount({ amount: wallet.balance, currency }, formats),
      about === undefined ? undefined : html`<p>${about}</p>`,
      definitionList([
        [WALLET_TEXTS.onHold, amount(wallet.held)],
        [WALLET_TEXTS.spendable, amount(spendable)],
        [WALLET_TEXTS.label, userLabel ?? userId],
      ]),
      wallet.held === 0n ? undefined : html`<p class="soft">${WALLET_TEXTS.onHoldWhy}</p>`,
      waysOn(state, connection, request, path),
    ],
  });
}

/** What the owner can do now, the main thing first. A blocked wallet offers no top-up: money that cannot be spent helps nobody (WA-04). */
function waysOn(
  state: WalletState,
  connection: Connection,
  { form }: OwnedWallet['request'],
  path: string,
): Html | undefined {
  const topUp = (kind?: 'quiet') =>
    form(`${path}/topup`, button(WALLET_TEXTS.topUp, kind === undefined ? {} : { kind }));
  if (!connection.wallet.isConnected) return form(`${path}/reconnect`, button(WALLET_TEXTS.reconnect));
  if (state === 'blocked') return undefined;
  const pause = form(`${path}/pause`, pauseFields(connection));
  return state === 'paused' ? row(pause, topUp('quiet')) : row(topUp(), pause);
}

/** Pauses, or ends the pause. Ending it is the one button that helps, so it stands beside the balance. */
function pauseFields({ isPaused }: Connection): Html {
  return html`${hiddenField('paused', isPaused ? 'no' : 'yes')}
${isPaused ? button(WALLET_TEXTS.resume) : button(WALLET_TEXTS.pause, { kind: 'quiet' })}`;
}

/** What of the cap is spent, and the forms that change it. Each button works by itself, without scripts. */
function capSection(
  { connection, request, path }: OwnedWallet,
  chart: Html | undefined,
  alerts: readonly number[],
  shown: Shown,
): Html {
  const { cap, isPaused, wallet } = connection;
  const { currency } = wallet;
  const amount = alignerOf([wallet.spentThisMonth, cap], currency, request.formats);
  const text = shown.cap ?? (cap === undefined ? '' : amountText(cap));
  const set = html`${amountField({ name: 'cap', label: WALLET_TEXTS.capField(currency), text, isRequired: true })}
${button(WALLET_TEXTS.setCap, { kind: 'quiet' })}`;
  const remove = html`${hiddenField('none', 'yes')}
${button(WALLET_TEXTS.removeCap, { kind: 'quiet' })}`;
  const change = html`<p>${WALLET_TEXTS.capWhy}${isPaused ? ` ${WALLET_TEXTS.capEndsPause}` : ''}</p>
${request.form(`${path}/cap`, set)}
${cap === undefined ? undefined : request.form(`${path}/cap`, remove)}`;
  const boxes = html`<p>${WALLET_TEXTS.alertsWhy}${cap === undefined ? ` ${WALLET_TEXTS.alertsNeedCap}` : ''}</p>
${request.form(`${path}/alerts`, alertFields(alerts))}`;
  return section({
    id: 'spending',
    heading: WALLET_TEXTS.capTitle,
    body: [
      definitionList([
        [WALLET_TEXTS.spentThisMonth, amount(wallet.spentThisMonth)],
        [WALLET_TEXTS.cap, cap === undefined ? WALLET_TEXTS.noCap : amount(cap)],
      ]),
      chart,
      fold(cap === undefined ? WALLET_TEXTS.setOneCap : WALLET_TEXTS.changeCap, change, shown.cap !== undefined),
      fold(WALLET_TEXTS.alerts(alerts), boxes),
    ],
  });
}

/** The chart of the present month. None if days may be missing. */
function monthOf(
  { connection, request }: OwnedWallet,
  { days, missingBeforeMs }: WalletDays,
  nowMs: number,
): Html | undefined {
  if (missingBeforeMs !== undefined) return undefined;
  const { cap, wallet } = connection;
  const { currency, spentThisMonth: spent } = wallet;
  return monthChart({ days, spent, cap, currency, nowMs }, request.formats);
}

/** A link of one line with the way to all apps. Its address is the app's own, from its allow-list (BI-02). */
function wayToApp({ name, returnUri }: OwnedWallet['app']): Html | undefined {
  return returnUri === undefined ? undefined : html`<a href="${returnUri}">${LINK_TEXTS.backTo(name)}</a>`;
}

/** The ways out. Each leads to a page that says what it does and asks once more. */
function moreSection({ services: { refunds }, connection, path }: OwnedWallet): Html | undefined {
  const { isConnected } = connection.wallet;
  if (!isConnected && refunds === undefined) return undefined;
  return section({
    id: 'more',
    heading: WALLET_TEXTS.moreTitle,
    body: [
      refunds === undefined ? undefined : linkLine(`${path}/refund`, WALLET_TEXTS.refundLink),
      isConnected ? linkLine(`${path}/agents`, WALLET_TEXTS.agentsLink) : undefined,
      isConnected ? linkLine(`${path}/disconnect`, WALLET_TEXTS.disconnectLink) : undefined,
    ],
  });
}
