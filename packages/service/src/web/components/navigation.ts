import { type Html, html } from '#kernel/text/html.ts';

/** A link on a line of its own: back, to another page, or on without doing anything. */
export function linkLine(href: string, text: string): Html {
  return html`<p><a href="${href}">${text}</a></p>`;
}

interface Target {
  readonly href: string;
  readonly text: string;
}

/** The neighbours of a page that shows part of a list. Undefined when the list has no other page. */
export function pager({ newer, older }: { newer: Target | undefined; older: Target | undefined }): Html | undefined {
  const targets = [newer, older].filter((target) => target !== undefined);
  if (targets.length === 0) return undefined;
  return html`<p class="row">${targets.map(({ href, text }) => html`<a href="${href}">${text}</a> `)}</p>`;
}

/** Where a page is, from the top down. `here` is the page itself and no link. */
export function breadcrumbs(label: string, above: readonly Target[], here: string): Html {
  const links = above.map(({ href, text }) => html`<li><a href="${href}">${text}</a></li>`);
  return html`<nav aria-label="${label}"><ol class="crumbs">${links}<li aria-current="page">${here}</li></ol></nav>`;
}

/** The steps of a task with several pages. `current` counts from 0. */
export function steps(names: readonly string[], current: number): Html {
  const items = names.map(
    (name, at) => html`<li${at === current ? html` aria-current="step"` : undefined}>${name}</li>`,
  );
  return html`<ol class="steps">${items}</ol>`;
}
