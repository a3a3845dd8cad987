import { type Html, html } from '#kernel/text/html.ts';

type Part = Html | string | undefined;

interface Section {
  /** The id of the heading. It names the section for screen readers, which can list the sections of a page. */
  readonly id: string;
  readonly heading: Part;
  readonly body: readonly Part[];
}

/** A part of a page with a heading of its own. */
export function section({ id, heading, body }: Section): Html {
  return html`<section aria-labelledby="${id}">
<h2 id="${id}">${heading}</h2>
${linesOf(body)}</section>`;
}

/** A part of a page that needs no heading: the page's own says what it is. */
export function card(...body: readonly Part[]): Html {
  return html`<div class="card">
${linesOf(body)}</div>`;
}

/** Parts that are undefined leave no trace, so that a page can write its conditions in place. */
function linesOf(body: readonly Part[]): readonly Html[] {
  return body.filter((part) => part !== undefined).map((part) => html`${part}\n`);
}
