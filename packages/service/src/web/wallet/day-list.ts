import { type Html, html } from '#kernel/html.ts';
import { epochMsOf, isoOf } from '#kernel/clock.ts';
import type { WalletDay, WalletDays, WalletMovement } from '#ledger/wallet/movements.ts';
import { type Place, placeText } from '#ledger/wallet/place.ts';
import { linkLine, pager } from '#web/components/navigation.ts';
import { warningNotice } from '#web/components/notices.ts';
import { table } from '#web/components/table.ts';
import { cellsOf, COLUMNS, type Line, lineOf } from '#web/wallet/movements.ts';
import { WALLET_TEXTS } from '#web/wallet/texts.ts';
import type { OwnedWallet } from '#web/wallet-owner/owned-wallet.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/wallet-owner-services.ts';

/** Days on a page. With the movements of each below, they keep the page under 50 KB. */
const DAYS_SHOWN_MAX = 7;
const OTHERS_SHOWN_MAX = 6;
/** A month and the day before it: enough for the chart, and more than is listed. */
export const DAYS_READ_MAX = 32;

/** The movements of a wallet by day: the calls of a day in one line, and everything else in lines of its own. */
export async function daysSection(
  services: WalletOwnerServices,
  own: OwnedWallet,
  { days, missingBeforeMs }: WalletDays,
  before: Place | undefined,
): Promise<Html> {
  const { path, connection, wallet, request } = own;
  const { formats } = request;
  const { currency } = connection.wallet;
  const shown = days.slice(0, DAYS_SHOWN_MAX);
  const others = await services.movements.others(wallet, shown, OTHERS_SHOWN_MAX);
  const linesOfDay = shown.map((day) => ({ day, lines: linesOf(own, day, others) }));
  const cells = cellsOf(
    linesOfDay.flatMap(({ lines }) => lines),
    currency,
    formats,
  );
  const groups = linesOfDay.map(({ day, lines }) => ({
    heading: html`<time datetime="${day.day}">${formats.day(epochMsOf(day.day))}</time>`,
    rows: lines.map((line) => cells.get(line) ?? []),
  }));
  const all = table({
    caption: html`<h2 id="movements">${WALLET_TEXTS.movementsTitle}</h2>`,
    columns: COLUMNS,
    rows: [],
    groups,
    empty: missingBeforeMs === undefined ? WALLET_TEXTS.noMovements : WALLET_TEXTS.noneSince,
  });
  const missing =
    missingBeforeMs === undefined ? undefined : warningNotice(WALLET_TEXTS.missing(formats.moment(missingBeforeMs)));
  const last = days.length > DAYS_SHOWN_MAX ? shown.at(-1) : undefined;
  return html`<section aria-labelledby="movements">
${missing}
${all}
${shown.length === 0 && missing === undefined ? undefined : linkLine(`${path}/movements.csv`, WALLET_TEXTS.export)}
${pager({
  newer: before === undefined ? undefined : { href: path, text: WALLET_TEXTS.newestMovements },
  older: last && { href: `${path}?before=${placeText(beginOf(last))}#movements`, text: WALLET_TEXTS.olderDays },
})}
</section>`;
}

/** The lines of a day. The first leads to the page with all of its movements. */
function linesOf(
  { path, connection, request: { formats } }: OwnedWallet,
  { day, parts: [newest], calls, charged, others, balanceAfter }: WalletDay,
  all: readonly WalletMovement[],
): readonly Line[] {
  const { currency } = connection.wallet;
  const href = `${path}?day=${day}&before=${placeText({ move: newest.move, seq: newest.last + 1n })}`;
  const ofDay = all.filter(({ atMs }) => isoOf(atMs).startsWith(day));
  const lines = ofDay.map((movement) => lineOf(movement, new Map(), { currency, formats }));
  const hidden = others - ofDay.length;
  const more = hidden > 0 ? html`<br>\n<a href="${href}">${WALLET_TEXTS.moreMovements(hidden)}</a>` : undefined;
  if (calls === 0) {
    const [first, ...rest] = lines;
    return first === undefined || more === undefined
      ? lines
      : [{ ...first, what: html`${first.what}${more}` }, ...rest];
  }
  const summed = {
    what: html`<a href="${href}">${WALLET_TEXTS.calls(calls)}</a>${more}`,
    amount: charged,
    direction: 'out',
    balanceAfter,
  } as const;
  return [summed, ...lines];
}

/** The first entry of a day, below which older days are. */
function beginOf({ parts }: WalletDay): Place {
  const { move, first } = parts.at(-1) ?? parts[0];
  return { move, seq: first };
}
