import { type Html, html } from '#kernel/text/html.ts';
import { epochMsOf, isoOf, startOfMonth } from '#kernel/time/clock.ts';
import { type Micros, micros, ZERO_MICROS } from '#kernel/values/micros.ts';
import type { WalletDay } from '#ledger/history/movements.ts';
import { fold } from '#web/components/parts.ts';
import { alignedAmount, table } from '#web/figures/figures.ts';
import type { Formats } from '#web/format/formats.ts';
import { MOVEMENT_TEXTS } from '#web/movements/texts.ts';

interface Month {
  /** All days of the month that had calls, and maybe earlier ones. */
  readonly days: readonly WalletDay[];
  /** The figure that the cap is held against. The chart ends at it. */
  readonly spent: Micros;
  readonly cap: Micros | undefined;
  readonly currency: string;
  readonly nowMs: number;
}

const WIDTH = 310;
const HEIGHT = 100;
const DAY_MS = 86_400_000;
const PER_MILLE = 1_000n;

/**
 * What was spent this month, day by day on top of the days before, against the cap; and the same as a table. Undefined if nothing
 * was spent.
 */
export function monthChart({ days, spent, cap, currency, nowMs }: Month, formats: Formats): Html | undefined {
  if (spent === 0n) return undefined;
  const today = isoOf(nowMs).slice(0, 'YYYY-MM-DD'.length);
  const month = today.slice(0, 'YYYY-MM'.length);
  const ofMonth = days.filter(({ day, calls }) => day.startsWith(month) && calls > 0);
  const sums = sumsOf(ofMonth, spent);
  const start = startOfMonth(month, 0);
  const daysInMonth = (startOfMonth(month, 1) - start) / DAY_MS;
  const top = cap !== undefined && cap > spent ? cap : spent;
  const yOf = (amount: Micros) => HEIGHT - Number((amount * PER_MILLE * BigInt(HEIGHT)) / top) / Number(PER_MILLE);
  const step = WIDTH / daysInMonth;
  let sum: Micros = ZERO_MICROS;
  const bars = Array.from({ length: Number(today.slice(-2)) }, (_none, at) => {
    sum = sums.get(at + 1)?.sum ?? sum;
    const y = yOf(sum);
    return html`<rect x="${(at * step + 1).toFixed(1)}" y="${y.toFixed(1)}" width="${(step - 2).toFixed(1)}" height="${(HEIGHT - y).toFixed(1)}"/>`;
  });
  const limit =
    cap === undefined
      ? undefined
      : html`<line class="limit" x1="0" x2="${WIDTH}" y1="${yOf(cap).toFixed(1)}" y2="${yOf(cap).toFixed(1)}"/>`;
  const said =
    cap === undefined
      ? MOVEMENT_TEXTS.chart(formats.amount(spent, currency))
      : MOVEMENT_TEXTS.chartOf(formats.amount(spent, currency), formats.amount(cap, currency));
  return html`<svg class="month" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${said}">
<line x1="0" x2="${WIDTH}" y1="${HEIGHT}" y2="${HEIGHT}"/>${bars}${limit}</svg>
<p class="ends soft"><span>${formats.day(start)}</span><span>${formats.day(start + (daysInMonth - 1) * DAY_MS)}</span></p>
${fold(MOVEMENT_TEXTS.chartTable, monthTable(ofMonth, sums, currency, formats))}`;
}

interface Spent {
  readonly charged: Micros;
  readonly sum: Micros;
}

/**
 * Returns, by day of the month, what was charged and the sum up to then. The sums are counted back from what the cap is
 * held against, so that both end at the same figure: a call that began last month was charged this month and counts for
 * the last (WA-08).
 */
function sumsOf(days: readonly WalletDay[], spent: Micros): ReadonlyMap<number, Spent> {
  const sums = new Map<number, Spent>();
  let left: bigint = spent;
  for (const { day, charged } of days) {
    sums.set(Number(day.slice(-2)), { charged, sum: micros(left) });
    left = left > charged ? left - charged : 0n;
  }
  return sums;
}

/** The days with calls, the newest first. */
function monthTable(
  days: readonly WalletDay[],
  sums: ReadonlyMap<number, Spent>,
  currency: string,
  formats: Formats,
): Html {
  const all = days.map(({ day, charged }) => ({ day, charged, sum: sums.get(Number(day.slice(-2)))?.sum ?? charged }));
  const decimals = formats.decimalsOf(
    all.flatMap(({ charged, sum }) => [charged, sum]),
    currency,
  );
  const cellOf = (amount: Micros) => alignedAmount({ amount, currency }, { decimals }, formats);
  return table({
    caption: MOVEMENT_TEXTS.chartCaption,
    columns: [
      { name: MOVEMENT_TEXTS.day },
      { name: MOVEMENT_TEXTS.spentThatDay, isNumeric: true },
      { name: MOVEMENT_TEXTS.spentSoFar, isNumeric: true },
    ],
    rows: all.map(({ day, charged, sum }) => [formats.day(epochMsOf(day)), cellOf(charged), cellOf(sum)]),
    empty: MOVEMENT_TEXTS.noMovements,
  });
}
