import { type Html, html } from '#kernel/text/html.ts';
import { epochMsOf } from '#kernel/time/clock.ts';
import { micros } from '#kernel/values/micros.ts';
import type { WalletDay, WalletDays } from '#ledger/history/movements.ts';
import { type Place, placeText } from '#ledger/history/place.ts';
import { linkLine, pager } from '#web/components/parts.ts';
import { warningNotice } from '#web/components/notices.ts';
import { table } from '#web/figures/figures.ts';
import { type DayLine, isRun, linesOfDay, type Run } from '#web/movements/day-lines.ts';
import { cellsOf, COLUMNS, type Line, lineOf } from '#web/movements/movements.ts';
import { MOVEMENT_TEXTS } from '#web/movements/texts.ts';
import type { OwnedWallet } from '#web/wallet-owner/owned-wallet.ts';

/** Days on a page, and lines of each. They keep the page under 50 KB. */
const DAYS_SHOWN_MAX = 7;
const LINES_OF_DAY_MAX = 7;
/** A month and the day before it: enough for the chart, and more than is listed. */
export const DAYS_READ_MAX = 32;

/** The movements of a wallet by day, in the order of the books: calls that follow each other are one line. */
export async function daysSection(
  own: OwnedWallet,
  { days, missingBeforeMs }: WalletDays,
  before: Place | undefined,
): Promise<Html> {
  const { services, path, connection, wallet, request } = own;
  const { formats } = request;
  const { currency } = connection.wallet;
  const shown = days.slice(0, DAYS_SHOWN_MAX);
  const others = await services.movements.others(wallet, shown, LINES_OF_DAY_MAX);
  const listed = shown.map((day) => {
    const lines = linesOfDay(day, others, LINES_OF_DAY_MAX);
    return { heading: headingOf(own, day, lines), lines: lines.map((line) => shownLine(own, day, line)) };
  });
  const cells = cellsOf(
    listed.flatMap(({ lines }) => lines),
    currency,
    formats,
  );
  // A day on which only our own books moved has no line.
  const groups = listed
    .filter(({ lines }) => lines.length > 0)
    .map(({ heading, lines }) => ({ heading, rows: lines.map((line) => cells.get(line) ?? []) }));
  const all = table({
    caption: html`<h2 id="movements">${MOVEMENT_TEXTS.movementsTitle}</h2>`,
    columns: COLUMNS,
    rows: [],
    groups,
    empty: missingBeforeMs === undefined ? MOVEMENT_TEXTS.noMovements : MOVEMENT_TEXTS.noneSince,
  });
  const missing =
    missingBeforeMs === undefined ? undefined : warningNotice(MOVEMENT_TEXTS.missing(formats.moment(missingBeforeMs)));
  const last = days.length > DAYS_SHOWN_MAX ? shown.at(-1) : undefined;
  return html`<section aria-labelledby="movements">
${missing}
${all}
${shown.length === 0 && missing === undefined ? undefined : linkLine(`${path}/movements.csv`, MOVEMENT_TEXTS.export)}
${pager({
  newer: before === undefined ? undefined : { href: path, text: MOVEMENT_TEXTS.newestMovements },
  older: last && { href: `${path}?before=${placeText(beginOf(last))}#movements`, text: MOVEMENT_TEXTS.olderDays },
})}
</section>`;
}

/** The day. It leads to its page unless its first line does. */
function headingOf(own: OwnedWallet, day: WalletDay, lines: readonly DayLine[]): Html {
  const time = html`<time datetime="${day.day}">${own.request.formats.day(epochMsOf(day.day))}</time>`;
  const isAhead = lines.findIndex(isRun) > 0;
  return isAhead ? html`<a href="${dayPath(own, day, endOf(day))}">${time}</a>` : time;
}

function shownLine(own: OwnedWallet, day: WalletDay, line: DayLine): Line {
  const { currency } = own.connection.wallet;
  if (!isRun(line)) return lineOf(line, new Map(), { currency, formats: own.request.formats });
  const { newest, balanceBefore, balanceAfter } = line;
  const change = balanceAfter - balanceBefore;
  return {
    what: html`<a href="${dayPath(own, day, { move: newest.move, seq: newest.seq + 1n })}">${wordsOf(line)}</a>`,
    amount: micros(change < 0n ? -change : change),
    direction: change < 0n ? 'out' : change > 0n ? 'in' : 'none',
    balanceAfter: micros(balanceAfter),
  };
}

function wordsOf({ calls, others }: Run): string {
  if (others === 0) return MOVEMENT_TEXTS.calls(calls);
  return calls === 0 ? MOVEMENT_TEXTS.moreMovements(others) : MOVEMENT_TEXTS.callsAndMore(calls, others);
}

/** The page with every movement of a day from below a place on. */
function dayPath({ path }: OwnedWallet, { day }: WalletDay, before: Place): string {
  return `${path}?day=${day}&before=${placeText(before)}`;
}

/** The place above the newest entry of a day. */
function endOf({ parts: [{ move, last }] }: WalletDay): Place {
  return { move, seq: last + 1n };
}

/** The first entry of a day, below which older days are. */
function beginOf({ parts }: WalletDay): Place {
  const { move, first } = parts.at(-1) ?? parts[0];
  return { move, seq: first };
}
