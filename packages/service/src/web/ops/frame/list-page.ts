import { type Html, html } from '#kernel/text/html.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import { card, pager } from '#web/components/parts.ts';
import { type FilterField, filterForm } from '#web/fields/filter.ts';
import type { Again } from '#web/ops/frame/act-page.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { type AppNames, listing, opsPath, type Query } from '#web/ops/frame/details.ts';

/** What was typed into a filter, by the names of its fields. If all are empty, everything is shown. */
export type Typed<Name extends string> = Readonly<Record<Name, string>>;

/** The fields of a filter by their names, as the address has them. */
export type Fields<Name extends string> = Readonly<Record<Name, Omit<FilterField, 'name' | 'value'>>>;

/** A part of a list. */
interface Found<Row> {
  readonly rows: readonly Row[];
  /** Where the next part begins. It is undefined for the last one. */
  readonly next: string | undefined;
  /** Why nothing was looked for, if a list without rows is shown all the same. */
  readonly refusal?: Refusal | undefined;
}

interface Cursor {
  /** The field of the address that says where the shown part begins. */
  readonly name: string;
  /** The words of the links. */
  readonly first: string;
  readonly more: string;
  /** What cannot be a place in the list was typed by hand: the page then begins at the first part. */
  readonly fits?: RegExp;
}

/** A list page as data: a filter in the address, a table, and the way to its other parts. */
export interface ListPage<Name extends string, Row> {
  /** Its address, as it follows `/ops/`. */
  readonly page: string;
  readonly title: string;
  /** The page above it. It is undefined for an entry of the navigation. */
  readonly below?: string;
  /** The fields of the filter. A list without them has none. */
  readonly fields: (asked: OpsRequest) => Fields<Name>;
  readonly cursor: Cursor;
  /** Reads a part. A refusal in place of it shows no list. */
  readonly read: (
    asked: OpsRequest,
    typed: Typed<Name>,
    place: string | undefined,
  ) => Promise<Found<Row> | Refusal> | Found<Row> | Refusal;
  readonly caption: string;
  readonly columns: (asked: OpsRequest) => readonly string[];
  /** The columns of amounts and counts, by their place from 0. */
  readonly numbers?: readonly number[];
  /** The app of a row, whose name is then looked up. */
  readonly appOf?: (row: Row) => string | undefined;
  readonly cells: (asked: OpsRequest, row: Row, names: AppNames) => readonly (Html | string)[];
  /** The text in place of a table without rows. */
  readonly empty: (typed: Typed<Name>, place: string | undefined, next: string | undefined) => string;
  /** What stands above the filter. */
  readonly above?: (asked: OpsRequest) => Html | undefined;
  /** What stands below the table, in its card. */
  readonly within?: (typed: Typed<Name>) => Html;
  /** What stands below all, such as a form. `again`: it was sent, and nothing was done. */
  readonly after?: (asked: OpsRequest, typed: Typed<Name>, again: Again | undefined) => Promise<Html> | Html;
}

/** Makes the page of a list. */
export function listPage<Name extends string, Row>(list: ListPage<Name, Row>) {
  return { GET: (asked: OpsRequest) => showList(list, asked) };
}

/** The list itself, for a page that has a form besides. */
export async function showList<Name extends string, Row>(list: ListPage<Name, Row>, asked: OpsRequest, again?: Again) {
  const { page, title, below, cursor, within, after } = list;
  const fields = list.fields(asked);
  const typed = typedIn(asked, fields);
  const place = placeIn(asked, cursor);
  const found = await list.read(asked, typed, place);
  const refusal = again?.refusal ?? (found instanceof Refusal ? found : found.refusal);
  const shown =
    found instanceof Refusal
      ? undefined
      : card(
          await tableOf(asked, list, { ...found, typed, place }),
          pagerOf(cursor, { page, query: typed, place, next: found.next }),
          within?.(typed),
        );
  const body = html`${list.above?.(asked)}
${filledFilter(page, fields, typed)}
${shown}
${await after?.(asked, typed, again)}`;
  return asked.show({ title, body, page: below ?? page, below, refusal });
}

async function tableOf<Name extends string, Row>(
  asked: OpsRequest,
  { caption, columns, numbers = [], appOf, cells, empty }: ListPage<Name, Row>,
  { rows, next, typed, place }: Found<Row> & { typed: Typed<Name>; place: string | undefined },
): Promise<Html> {
  const names = await asked.operator.apps.names(appOf === undefined ? [] : rows.flatMap((row) => appOf(row) ?? []));
  return listing({
    caption,
    columns: columns(asked),
    numbers,
    rows: rows.map((row) => cells(asked, row, names)),
    empty: empty(typed, place, next),
  });
}

/** What the address has for each field of a filter. */
export function typedIn<Name extends string>({ asks }: OpsRequest, fields: Fields<Name>): Typed<Name> {
  return Object.fromEntries(Object.keys(fields).map((name) => [name, asks(name)])) as Typed<Name>;
}

/** The filter of a page, as it was typed. `kept`: what the address has besides. Undefined if there is nothing to type. */
export function filledFilter<Name extends string>(
  page: string,
  fields: Fields<Name>,
  typed: Typed<Name>,
  kept?: Typed<string>,
): Html | undefined {
  const filled = Object.entries<Fields<Name>[Name]>(fields).map(([name, field]) => ({
    ...field,
    name,
    value: typed[name as Name],
  }));
  return filled.length === 0 ? undefined : filterForm(opsPath(page), 'live', filled, kept);
}

/** The place in a list that the address names. */
export function placeIn({ query }: OpsRequest, { name, fits }: Cursor): string | undefined {
  const place = query.get(name) ?? '';
  return place === '' || fits?.test(place) === false ? undefined : place;
}

interface Part {
  readonly page: string;
  readonly query: Query;
  readonly place: string | undefined;
  readonly next: string | undefined;
}

/** The links to the first and the next part of a list. */
export function pagerOf({ name, first, more }: Cursor, { page, query, place, next }: Part): Html | undefined {
  return pager({
    newer: place === undefined ? undefined : { href: opsPath(page, query), text: first },
    older: next === undefined ? undefined : { href: opsPath(page, { ...query, [name]: next }), text: more },
  });
}

/** A choice for every text, by its key. */
export function choicesOf(texts: Readonly<Record<string, string>>, all?: string) {
  const choices = Object.entries(texts).map(([value, text]) => ({ value, text }));
  return all === undefined ? choices : [{ value: '', text: all }, ...choices];
}
