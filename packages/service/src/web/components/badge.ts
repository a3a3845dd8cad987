import { type Html, html } from '#kernel/text/html.ts';

/** A state in a word. `warn`: something does not work as usual. The word alone says it too, for those who see no colour. */
export function badge(text: string, kind: 'good' | 'warn'): Html {
  return html`<span class="badge${kind === 'warn' ? ' warn' : ''}">${text}</span>`;
}
