import { Html, html } from '#kernel/text/html.ts';

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
