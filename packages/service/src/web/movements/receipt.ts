import { type Html, html } from '#kernel/text/html.ts';
import { parseCallId } from '#kernel/values/ids.ts';
import { micros } from '#kernel/values/micros.ts';
import type { CallReceipt } from '#calls/usage/report.ts';
import { wireName } from '#web/format/wire-name.ts';
import { headlineAmount, moment } from '#web/figures/figures.ts';
import { appMark, card, definitionList, linkLine } from '#web/components/parts.ts';
import type { PageResponse } from '#web/frame/page.ts';
import { MOVEMENT_TEXTS } from '#web/movements/texts.ts';
import { nothingHere, type OwnedWallet } from '#web/wallet-owner/owned-wallet.ts';
import { showWalletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';

/** A margin is in hundredths of a percent: 10,000 of them are the whole price. */
const BASIS_POINTS = 10_000n;

/** What one call of a wallet used and cost, and why (CC-11). A call of another wallet is answered like one that does not exist. */
export async function receiptPage(own: OwnedWallet, part: string): Promise<PageResponse> {
  const { services } = own;
  const { appId, userId, wallet } = own.connection;
  const callId = parseCallId(part);
  const receipt = callId === undefined ? undefined : await services.usage.receipt(appId, userId, callId);
  if (receipt === undefined) return nothingHere(services);
  const { formats } = own.request;
  const { currency } = wallet;
  const amountOf = (amount: bigint): string => formats.amount(micros(amount), currency);
  const { tokens, outcome, model } = receipt;
  const { searches = 0 } = receipt;
  // Prices of today may differ: the receipt has those that the call was charged by.
  const price = priceOf(receipt, amountOf);
  const facts = definitionList([
    [MOVEMENT_TEXTS.at, moment(receipt.atMs, formats)],
    model === undefined ? undefined : [MOVEMENT_TEXTS.model, model],
    [MOVEMENT_TEXTS.outcome, MOVEMENT_TEXTS.outcomeOf(outcome)],
    [MOVEMENT_TEXTS.tokensIn, html`${tokens.prompt}${partsOf(tokens, PROMPT_PARTS)}`],
    [MOVEMENT_TEXTS.tokensOut, html`${tokens.completion}${partsOf(tokens, COMPLETION_PARTS)}`],
    searches === 0 ? undefined : [MOVEMENT_TEXTS.searches, String(searches)],
    price === undefined ? undefined : [MOVEMENT_TEXTS.price, price],
    [MOVEMENT_TEXTS.held, amountOf(receipt.held)],
    [MOVEMENT_TEXTS.charged, amountOf(receipt.charged)],
    [MOVEMENT_TEXTS.released, amountOf(receipt.released)],
    receipt.wire === undefined ? undefined : [MOVEMENT_TEXTS.wire, wireName(receipt.wire)],
    receipt.session === undefined
      ? undefined
      : [MOVEMENT_TEXTS.session, html`<a href="${own.path}/sessions"><code>${receipt.session}</code></a>`],
    [MOVEMENT_TEXTS.callId, receipt.callId],
  ]);
  const charged = headlineAmount({ amount: micros(receipt.charged), currency }, formats);
  const body = html`${linkLine(own.path, MOVEMENT_TEXTS.receiptBack)}
${card(appMark(own.app), charged, html`<p>${MOVEMENT_TEXTS.fairness(receipt)}</p>`, facts)}`;
  return showWalletOwnerPage(services, { title: MOVEMENT_TEXTS.receiptTitle, body });
}

type Tokens = CallReceipt['tokens'];
type Part = readonly [count: keyof Tokens, rate: keyof Rates, words: string];
type Rates = Omit<NonNullable<CallReceipt['price']>, 'version' | 'marginBasisPoints' | 'tiers'>;

const { kinds } = MOVEMENT_TEXTS;
const PROMPT_PARTS: readonly Part[] = [
  ['cached', 'cachedInputMicrosPerMillion', kinds.cached],
  ['cacheWrite', 'cacheWriteMicrosPerMillion', kinds.cacheWrite],
  ['cacheWriteLong', 'cacheWriteLongMicrosPerMillion', kinds.cacheWriteLong],
  ['audioInput', 'audioInputMicrosPerMillion', kinds.audio],
  ['imageInput', 'imageInputMicrosPerMillion', kinds.images],
];
const COMPLETION_PARTS: readonly Part[] = [
  ['reasoning', 'reasoningMicrosPerMillion', kinds.reasoning],
  ['audioOutput', 'audioOutputMicrosPerMillion', kinds.audio],
  ['imageOutput', 'imageOutputMicrosPerMillion', kinds.images],
];

/** Remarks beside a figure: how many of the tokens were cached, written to the cache, spent on reasoning, and so on. */
function partsOf(tokens: Tokens, parts: readonly Part[]): readonly Html[] {
  return parts.flatMap(([count, , words]) => {
    const tokensOfPart = tokens[count] ?? 0;
    if (tokensOfPart === 0) return [];
    return [html` <span class="soft">(${MOVEMENT_TEXTS.ofWhich(tokensOfPart, words)})</span>`];
  });
}

/** The price that the wallet pays, margin included. Rounded up to the next micro. Of a tier, if the prompt was that long. */
function priceOf(
  { price, tokens, searches = 0 }: CallReceipt,
  amountOf: (amount: bigint) => string,
): string | undefined {
  if (price === undefined) return undefined;
  const withMargin = (amount: number): bigint => {
    const exact = BigInt(amount) * (BASIS_POINTS + BigInt(price.marginBasisPoints));
    return (exact + BASIS_POINTS - 1n) / BASIS_POINTS;
  };
  const tier = price.tiers?.findLast(({ aboveInputTokens }) => tokens.prompt > aboveInputTokens);
  const rates: Partial<Rates> = tier ?? price;
  // The price of cached input is always shown; the others if the call had such tokens and they have a price of their own.
  const pricesOf = (parts: readonly Part[]): readonly string[] =>
    parts.flatMap(([count, rate, words]) => {
      const amount = rates[rate];
      const isShown = count === 'cached' || (tokens[count] ?? 0) > 0;
      return amount === undefined || !isShown ? [] : [MOVEMENT_TEXTS.ifKind(amountOf(withMargin(amount)), words)];
    });
  const perCall = withMargin(price.microsPerCall ?? 0) + BigInt(price.marginMicrosPerCall ?? 0);
  const perSearch = searches === 0 ? 0 : (price.microsPerSearch ?? 0);
  return MOVEMENT_TEXTS.priceOf({
    input: amountOf(withMargin(rates.inputMicrosPerMillion ?? 0)),
    inputParts: pricesOf(PROMPT_PARTS),
    output: amountOf(withMargin(rates.outputMicrosPerMillion ?? 0)),
    outputParts: pricesOf(COMPLETION_PARTS),
    perCall: perCall === 0n ? undefined : amountOf(perCall),
    perSearch: perSearch === 0 ? undefined : amountOf(withMargin(perSearch)),
  });
}
