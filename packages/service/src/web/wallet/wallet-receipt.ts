import { appMark } from '#web/components/app-mark.ts';
import { type Html, html } from '#kernel/html.ts';
import { formatsOf } from '#web/components/format.ts';
import { nothingHere, type OwnVisit } from '#web/person/own-connection.ts';
import type { PeoplePages } from '#web/person/people-pages.ts';
import { personPage } from '#web/person/person-page.ts';
import { WALLET_TEXTS } from '#web/wallet/texts.ts';
import type { PageAnswer } from '#web/frame/visit.ts';
import { parseCallId } from '#kernel/ids.ts';
import { micros } from '#kernel/micros.ts';
import type { CallReceipt } from '#usage/report.ts';

const BASIS_POINTS = 10_000n;

/** What one call of a wallet used and cost, and why (CC-11). That of another wallet is not there. */
export async function receiptPage(pages: PeoplePages, own: OwnVisit, part: string): Promise<PageAnswer> {
  const { appId, userId, wallet } = own.connection;
  const callId = parseCallId(part);
  const receipt = callId === undefined ? undefined : await pages.receipts.receipt(appId, callId);
  if (receipt?.userId !== userId) return nothingHere(pages);
  const formats = formatsOf(own.visit.exchange.request);
  const amountOf = (amount: bigint): string => formats.amount(micros(amount), wallet.currency);
  const { tokens, outcome, model } = receipt;
  const cached = tokens.cached === 0 ? undefined : aside(WALLET_TEXTS.ofWhich(tokens.cached, 'cached'));
  const reasoning = tokens.reasoning === 0 ? undefined : aside(WALLET_TEXTS.ofWhich(tokens.reasoning, 'reasoning'));
  const body = html`<p><a href="${own.path}">${WALLET_TEXTS.receiptBack}</a></p>
<div class="card">
${appMark(own.app)}
<p class="amount">${amountOf(receipt.charged)}</p>
<p>${WALLET_TEXTS.fairness(receipt)}</p>
<dl>
<dt>${WALLET_TEXTS.at}</dt><dd>${formats.moment(receipt.atMs)}</dd>
${model === undefined ? undefined : html`<dt>${WALLET_TEXTS.model}</dt><dd>${model}</dd>`}
<dt>${WALLET_TEXTS.outcome}</dt><dd>${WALLET_TEXTS.outcomeOf(outcome)}</dd>
<dt>${WALLET_TEXTS.tokensIn}</dt><dd>${tokens.prompt}${cached}</dd>
<dt>${WALLET_TEXTS.tokensOut}</dt><dd>${tokens.completion}${reasoning}</dd>
${priceOf(receipt, amountOf)}
<dt>${WALLET_TEXTS.held}</dt><dd>${amountOf(receipt.held)}</dd>
<dt>${WALLET_TEXTS.charged}</dt><dd>${amountOf(receipt.charged)}</dd>
<dt>${WALLET_TEXTS.released}</dt><dd>${amountOf(receipt.released)}</dd>
<dt>${WALLET_TEXTS.callId}</dt><dd>${receipt.callId}</dd>
</dl>
</div>`;
  return { status: 200, page: personPage(pages, { title: WALLET_TEXTS.receiptTitle, body }) };
}

function aside(text: string): Html {
  return html` <span class="soft">(${text})</span>`;
}

/** As the wallet pays it, margin included, to the next micro. */
function priceOf({ price }: CallReceipt, amountOf: (amount: bigint) => string): Html | undefined {
  if (price === undefined) return undefined;
  const withMargin = (perMillion: number): string => {
    const exact = BigInt(perMillion) * (BASIS_POINTS + BigInt(price.marginBasisPoints));
    return amountOf((exact + BASIS_POINTS - 1n) / BASIS_POINTS);
  };
  const prices = {
    input: withMargin(price.inputMicrosPerMillion),
    cached: withMargin(price.cachedInputMicrosPerMillion),
    output: withMargin(price.outputMicrosPerMillion),
  };
  return html`<dt>${WALLET_TEXTS.price}</dt><dd>${WALLET_TEXTS.priceOf(prices)}</dd>`;
}
