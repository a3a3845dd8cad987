import { type Html, html } from '#kernel/html.ts';

/** Something that most readers pass over, behind its name. `isOpen`: shown at first, for example because something in it is wrong. */
export function fold(name: string, body: Html, isOpen = false): Html {
  return html`<details${isOpen ? html` open` : undefined}>
<summary>${name}</summary>
${body}
</details>`;
}
