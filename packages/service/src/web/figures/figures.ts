import { type Html, html } from '#kernel/text/html.ts';

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
