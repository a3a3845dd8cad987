import { html, Html } from '#kernel/text/html.ts';
import { isoOf } from '#kernel/time/clock.ts';
import type { Formats } from '#web/format/formats.ts';
import type { Micros } from '#kernel/values/micros.ts';
import { AMOUNT_TEXTS } from '#web/components/texts.ts';

interface Figure {
  readonly name: string;
  readonly value: Html | string;
  /** What the value is compared with, or what it means. */
  readonly note?: Html | string | undefined;
  /** What it was before, in small print. */
  readonly before?: string;
}

/** The few numbers that a page is about, in large digits, side by side. */
export function figures(all: readonly Figure[]): Html {
  const tiles = all.map(
    ({ name, value, note, before }) =>
      html`<div><dt>${name}</dt><dd>${value}</dd>${note === undefined ? undefined : html`<dd>${note}</dd>`}${before === undefined ? undefined : html`<dd>${before}</dd>`}</div>\n`,
  );
  return html`<dl class="tiles">
${tiles}</dl>`;
}

interface Column {
  readonly name: string;
  /** Amounts and counts: flush right, with digits of one width, and never broken. */
  readonly isNumeric?: boolean;
}

type Cell = Html | string;
type Row = readonly Cell[];

interface Table {
  /** What the rows are. A screen reader says it when it enters the table. */
  readonly caption: Cell;
  readonly columns: readonly Column[];
  /** Each with one cell a column. */
  readonly rows: readonly Row[];
  /** Rows under headings of their own, after the others. */
  readonly groups?: readonly { readonly heading: Cell; readonly rows: readonly Row[] }[];
  /**
   * Tells whether the cells of up to three columns are too long for a row of a phone. Each cell then gets a line of its
   * own there.
   */
  readonly hasLongCells?: boolean;
  /** The text that is shown instead of the table when there are no rows. */
  readonly empty: string;
}

/** With up to three columns a row fits on a phone. With more, each cell gets a line of its own, under its column's name. */
const COMPACT_COLUMNS_MAX = 3;

/** A table with a caption and a head, or a sentence that says that there is nothing. */
export function table({ caption, columns, rows, groups = [], hasLongCells = false, empty }: Table): Html {
  if (rows.length === 0 && groups.length === 0) return html`${headingOf(caption)}<p>${empty}</p>`;
  const isCompact = columns.length <= COMPACT_COLUMNS_MAX && !hasLongCells;
  const linesOf = (some: readonly Row[]) =>
    some.map((cells) => html`<tr>${cells.map((cell, at) => cellOf(cell, columns[at], isCompact))}</tr>\n`);
  const groupOf = (group: { readonly heading: Cell; readonly rows: readonly Row[] }) => html`<tbody>
<tr class="group"><th colspan="${columns.length}" scope="rowgroup">${group.heading}</th></tr>
${linesOf(group.rows)}</tbody>
`;
  const head = columns.map((column) => html`<th scope="col"${numberClass(column)}>${column.name}</th>`);
  return html`<table class="list ${isCompact ? 'compact' : 'labelled'}">
<caption>${caption}</caption>
<thead><tr>${head}</tr></thead>
${rows.length === 0 ? undefined : html`<tbody>\n${linesOf(rows)}</tbody>\n`}${groups.map(groupOf)}</table>`;
}

/** The name of the column travels with the cell: the style shows it on phones, where the head is hidden. */
function cellOf(cell: Cell, column: Column = { name: '' }, isCompact: boolean): Html {
  const label = isCompact ? undefined : html` data-label="${column.name}"`;
  // On a phone the label and the cell are at the two ends of a line, so a cell of several lines has to be one thing.
  const whole = !isCompact && cell instanceof Html && cell.text.includes('<br') ? html`<div>${cell}</div>` : cell;
  return html`<td${numberClass(column)}${label}>${whole}</td>`;
}

/**
 * Returns a heading. Without a table there is no caption, so a caption that is only text has to look like a heading by
 * itself.
 */
function headingOf(caption: Cell): Html {
  return typeof caption === 'string' ? html`<p><strong>${caption}</strong></p>` : caption;
}

function numberClass({ isNumeric = false }: Column): Html | undefined {
  return isNumeric ? html` class="number"` : undefined;
}

/** A moment to the minute, in UTC and in the reader's language. Programs read the exact moment from `datetime`. */
export function moment(epochMs: number, formats: Formats): Html {
  return html`<time datetime="${isoOf(epochMs)}">${formats.moment(epochMs)}</time>`;
}

/** An amount with its currency. Micros alone mean nothing: amounts of two wallets may be in two currencies. */
interface Money {
  readonly amount: Micros;
  readonly currency: string;
}

/** The one amount that a page is about, in large digits: in whole coins. The exact amount follows in small print if it differs. */
export function headlineAmount({ amount, currency }: Money, formats: Formats): Html {
  const [coins, exact] = [formats.coins(amount, currency), formats.amount(amount, currency)];
  const small = coins === exact ? undefined : html`\n<p class="exact">${AMOUNT_TEXTS.exactly(exact)}</p>`;
  return html`<p class="amount">${coins}</p>${small}`;
}

/**
 * The signs are typographic, because a hyphen in place of the minus is lost at the end of a line. With `none`, the
 * amount is a balance.
 */
const SIGNS = { in: '+', out: '−', none: '' } as const;

/** An amount with the sign by which the balance changes. */
export function signedAmount({ amount, currency }: Money, direction: keyof typeof SIGNS, formats: Formats): Html {
  return html`${SIGNS[direction]}${formats.amount(amount, currency)}`;
}

/**
 * An amount of a column, decimal under decimal. `decimals`: as many as the longest of the column has. The style makes room for
 * those that are missing, so that nobody hears or copies them.
 */
export function alignedAmount(
  { amount, currency }: Money,
  { direction = 'none', decimals }: { readonly direction?: keyof typeof SIGNS; readonly decimals: number },
  formats: Formats,
): Html {
  const own = formats.decimalsOf([amount], currency);
  const missing = (own === 0 ? '.' : '') + '0'.repeat(Math.max(0, decimals - own));
  const fill = decimals <= own ? undefined : html`<span data-fill="${missing}"></span>`;
  return html`${SIGNS[direction]}${formats.amount(amount, currency)}${fill}`;
}
