import { html, type Html } from '#kernel/text/html.ts';
import { epochMsOf, isoOf } from '#kernel/time/clock.ts';
import { placeText } from '#ledger/history/place.ts';
import { appMark, card, definitionList, linkLine, pager } from '#web/components/parts.ts';
import { headlineAmount, moment, table } from '#web/figures/figures.ts';
import type { PageResponse } from '#web/frame/page.ts';
import { cellsOf, COLUMNS, lineOf, readMovements, startOf } from '#web/movements/movements.ts';
import { MOVEMENT_TEXTS } from '#web/movements/texts.ts';
import { forWalletOwner, nothingHere, type OwnedWallet } from '#web/wallet-owner/owned-wallet.ts';
import { showWalletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';
import { parseCallId } from '#kernel/values/ids.ts';
import { micros } from '#kernel/values/micros.ts';
import type { CallReceipt } from '#calls/usage/report.ts';
import { wireName } from '#web/format/wire-name.ts';
import { sessionList, SESSIONS_SHOWN_MAX } from '#web/figures/session-list.ts';

/** Fifty movements keep the page under 50 KB. The file has all of them. */
const MOVEMENTS_SHOWN_MAX = 50;
const DAY = /^2\d{3}-\d{2}-\d{2}$/;

/**
 * Makes the page `?day=YYYY-MM-DD&before=N`, which shows the movements of a day, the newest first. With `before`, it
 * shows those below that entry. The wallet's page has the links.
 */
export async function dayPage(own: OwnedWallet, day: string): Promise<PageResponse> {
  const atMs = DAY.test(day) ? epochMsOf(day) : Number.NaN;
  const { services, connection, wallet, path, request } = own;
  if (Number.isNaN(atMs)) return nothingHere(services);
  const { formats } = request;
  const { currency } = connection.wallet;
  const before = startOf(request.query);
  // One more than is shown tells whether there is an older page, without counting them all.
  const read = await readMovements(services, wallet, { before, most: MOVEMENTS_SHOWN_MAX + 1 });
  const ofDay = read.movements.filter((movement) => isoOf(movement.atMs).startsWith(day));
  const shown = ofDay.slice(0, MOVEMENTS_SHOWN_MAX);
  const last = ofDay.length > MOVEMENTS_SHOWN_MAX ? shown.at(-1) : undefined;
  const lines = shown.map((movement) => lineOf(movement, read.calls, { currency, formats }));
  const movements = table({
    caption: MOVEMENT_TEXTS.movementsTitle,
    columns: COLUMNS,
    rows: [...cellsOf(lines, currency, formats).values()],
    empty: MOVEMENT_TEXTS.noMovements,
  });
  const older = last && {
    href: `${path}?day=${day}&before=${placeText(last)}`,
    text: MOVEMENT_TEXTS.olderMovements,
  };
  const body = html`${linkLine(`${path}#movements`, MOVEMENT_TEXTS.receiptBack)}
${card(appMark(own.app), movements, pager({ newer: undefined, older }))}`;
  return showWalletOwnerPage(services, { title: formats.day(atMs), body });
}

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

/** Makes the page `/wallet/:part/sessions?before=`, which shows what sessions of coding agents have cost (CP-19). */
export const sessionsPage = forWalletOwner({
  GET: async ({ services, request, connection, path, app }) => {
    const before = request.query.get('before') ?? undefined;
    const page = { before, most: SESSIONS_SHOWN_MAX };
    const { sessions, next } = await services.usage.sessions(connection, page);
    const { currency } = connection.wallet;
    const list = sessionList(
      sessions,
      { caption: MOVEMENT_TEXTS.sessionsCaption, currency, empty: MOVEMENT_TEXTS.noSessions },
      request.formats,
    );
    const href = `${path}/sessions`;
    const pages = pager({
      newer: before === undefined ? undefined : { href, text: MOVEMENT_TEXTS.newestSessions },
      older: next === undefined ? undefined : { href: `${href}?before=${next}`, text: MOVEMENT_TEXTS.olderSessions },
    });
    const body = html`${linkLine(`${path}#movements`, MOVEMENT_TEXTS.receiptBack)}
<p>${MOVEMENT_TEXTS.sessionsWhat}</p>
${card(appMark(app), list, pages)}`;
    return showWalletOwnerPage(services, { title: MOVEMENT_TEXTS.sessionsTitle, body });
  },
});
