import { type Html, html } from '#kernel/text/html.ts';

/** A term and what it is. Undefined entries are left out, so that a page can write a condition in place. */
type Definition = readonly [term: string, value: Html | string | number] | undefined;

/** Facts about one thing: terms on the left, values on the right. */
export function definitionList(definitions: readonly Definition[]): Html {
  const known = definitions.filter((definition) => definition !== undefined);
  return html`<dl>
${known.map(([term, value]) => html`<dt>${term}</dt><dd>${value}</dd>\n`)}</dl>`;
}
