import { Html, html } from '#kernel/text/html.ts';
import { definitionList, section } from '#web/components/parts.ts';
import { table } from '#web/figures/figures.ts';

type Words = Html | string;

type Facts = Parameters<typeof definitionList>[0];

/**
 * A part of a page with a heading. `id`: names it for screen readers. A table or facts are given as they are. What is undefined leaves no
 * trace.
 */
export function part(id: string, heading: Words, ...body: readonly (Words | Listing | Facts | undefined)[]): Html {
  const shown = body.map((one) => {
    if (one === undefined || typeof one === 'string' || one instanceof Html) return one;
    return 'rows' in one ? listing(one) : definitionList(one);
  });
  return section({ id, heading, body: shown });
}

interface Listing {
  /** What the rows are. */
  readonly caption?: Words;
  /** In place of a caption, below a heading that says what the rows are: what is in the list, in small print. */
  readonly note?: string;
  readonly columns: readonly string[];
  /** The columns of amounts and counts, by their place from 0. */
  readonly numbers?: readonly number[];
  /** A cell for each column. */
  readonly rows: readonly (readonly Words[])[];
  /** The text in place of the table if there are no rows. */
  readonly empty?: string;
  readonly hasLongCells?: boolean;
}

/** A table of what there is. */
export function listing({ caption, note, columns, numbers = [], empty = '', ...rest }: Listing): Html {
  const named = columns.map((name, at) => ({ name, isNumeric: numbers.includes(at) }));
  return table({ caption: caption ?? soft(note), columns: named, empty, ...rest });
}

/** Small print beside something, or on a line of its own below it. */
export function soft(text: Words | undefined): Html {
  return html`<span class="soft">${text}</span>`;
}

/** The id of something, which people copy. */
export function code(id: string): Html {
  return html`<code>${id}</code>`;
}

/** What a page says of cells. Nothing if there are none. */
export function ofCells(cell: string | undefined, text: (cell: string) => string): Html | undefined {
  return cell === undefined ? undefined : html`<p class="soft">${text(cell)}</p>`;
}

/** What apps are called, as `operator.apps.names` says it. */
export type AppNames = ReadonlyMap<string, string>;

/** Fields of an address. Those that are undefined or empty are left out. */
export type Query = Readonly<Record<string, string | undefined>>;

/** The address of a page for operators. `page` is empty for the overview. */
export function opsPath(page: string, query: Query = {}): string {
  const set = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '');
  const text = new URLSearchParams(set).toString();
  return `/ops${page === '' ? '' : `/${page}`}${text === '' ? '' : `?${text}`}`;
}
