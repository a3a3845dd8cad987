import { type Html, html } from '#kernel/text/html.ts';

/** A list, an item a line. An item may hold a form: it then stands at the end of the line. */
export function list(items: readonly (Html | string)[]): Html {
  return html`<ul>
${items.map((item) => html`<li>${item}</li>\n`)}</ul>`;
}

/** Sentences, each a paragraph. */
export function paragraphs(sentences: readonly string[]): Html {
  return html`${sentences.map((sentence) => html`<p>${sentence}</p>\n`)}`;
}
