import { type Html, html } from '#kernel/text/html.ts';

/** What a page says of cells. Nothing if there are none. */
export function ofCells(cell: string | undefined, text: (cell: string) => string): Html | undefined {
  return cell === undefined ? undefined : html`<p class="soft">${text(cell)}</p>`;
}
