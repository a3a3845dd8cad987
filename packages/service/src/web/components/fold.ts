import { type Html, html } from '#kernel/text/html.ts';

/**
 * Hides something that most readers pass over behind its name. With `isOpen`, it is shown at first, for example because
 * something in it is wrong.
 */
export function fold(name: string, body: Html, isOpen = false): Html {
  return html`<details${isOpen ? html` open` : undefined}>
<summary>${name}</summary>
${body}
</details>`;
}
