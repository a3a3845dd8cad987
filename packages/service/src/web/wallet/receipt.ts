import { type Html, html } from '#kernel/html.ts';
import { parseCallId } from '#kernel/ids.ts';
import { micros } from '#kernel/micros.ts';
import type { CallReceipt } from '#usage/report.ts';
import { appMark } from '#web/components/app-mark.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { moment } from '#web/components/moment.ts';
import { headlineAmount } from '#web/components/money.ts';
import { linkLine } from '#web/components/navigation.ts';
import { card } from '#web/components/section.ts';
import type { PageResponse } from '#web/frame/page.ts';
import { WALLET_TEXTS } from '#web/wallet/texts.ts';
import { nothingHere, type OwnedWallet } from '#web/wallet-owner/owned-wallet.ts';
import { walletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/wallet-owner-services.ts';

/** A margin is in hundredths of a percent: 10,000 of them are the whole price. */
const BASIS_POINTS = 10_000n;

/** What one call of a wallet used and cost, and why (CC-11). A call of another wallet is answered like one that does not exist. */
export async function receiptPage(
  services: WalletOwnerServices,
  own: OwnedWallet,
  part: string,
): Promise<PageResponse> {
  const { appId, userId, wallet } = own.connection;
  const callId = parseCallId(part);
  const receipt = callId === undefined ? undefined : await services.receipts.receipt(appId, callId);
  if (receipt?.userId !== userId) return nothingHere(services);
  const { formats } = own.request;
  const { currency } = wallet;
  const amountOf = (amount: bigint): string => formats.amount(micros(amount), currency);
  const { tokens, outcome, model } = receipt;
  const cached = tokens.cached === 0 ? undefined : aside(WALLET_TEXTS.ofWhich(tokens.cached, 'cached'));
  const { cacheWrite } = tokens;
  const written = cacheWrite === 0 ? undefined : aside(WALLET_TEXTS.ofWhich(cacheWrite, 'written to the cache'));
  const reasoning = tokens.reasoning === 0 ? undefined : aside(WALLET_TEXTS.ofWhich(tokens.reasoning, 'reasoning'));
  // Prices of today may differ: the receipt has those that the call was charged by.
  const price = priceOf(receipt, amountOf);
  const facts = definitionList([
    [WALLET_TEXTS.at, moment(receipt.atMs, formats)],
    model === undefined ? undefined : [WALLET_TEXTS.model, model],
    [WALLET_TEXTS.outcome, WALLET_TEXTS.outcomeOf(outcome)],
    [WALLET_TEXTS.tokensIn, html`${tokens.prompt}${cached}${written}`],
    [WALLET_TEXTS.tokensOut, html`${tokens.completion}${reasoning}`],
    price === undefined ? undefined : [WALLET_TEXTS.price, price],
    [WALLET_TEXTS.held, amountOf(receipt.held)],
    [WALLET_TEXTS.charged, amountOf(receipt.charged)],
    [WALLET_TEXTS.released, amountOf(receipt.released)],
    [WALLET_TEXTS.callId, receipt.callId],
  ]);
  const charged = headlineAmount({ amount: micros(receipt.charged), currency }, formats);
  const body = html`${linkLine(own.path, WALLET_TEXTS.receiptBack)}
${card(appMark(own.app), charged, html`<p>${WALLET_TEXTS.fairness(receipt)}</p>`, facts)}`;
  return { status: 200, page: walletOwnerPage(services, { title: WALLET_TEXTS.receiptTitle, body }) };
}

/** A remark beside a figure: how many of the tokens were cached, written to the cache, or spent on reasoning. */
function aside(text: string): Html {
  return html` <span class="soft">(${text})</span>`;
}

/** The price that the wallet pays, margin included. Rounded up to the next micro. */
function priceOf({ price, tokens }: CallReceipt, amountOf: (amount: bigint) => string): string | undefined {
  if (price === undefined) return undefined;
  const withMargin = (perMillion: number): string => {
    const exact = BigInt(perMillion) * (BASIS_POINTS + BigInt(price.marginBasisPoints));
    return amountOf((exact + BASIS_POINTS - 1n) / BASIS_POINTS);
  };
  const prices = {
    input: withMargin(price.inputMicrosPerMillion),
    cached: withMargin(price.cachedInputMicrosPerMillion),
    written: tokens.cacheWrite === 0 ? undefined : withMargin(price.cacheWriteMicrosPerMillion),
    output: withMargin(price.outputMicrosPerMillion),
  };
  return WALLET_TEXTS.priceOf(prices);
}
