import { type Html, html } from '#kernel/text/html.ts';

interface Confirmation {
  /** The act, as a button would say it. */
  readonly act: string;
  /** What it does, and that it cannot be undone. */
  readonly what: Html | string;
  /** The form that does it, with a `danger` button. */
  readonly form: Html;
}

/** An act that cannot be undone. The first press opens what it means, the second one does it. */
export function confirmation({ act, what, form }: Confirmation): Html {
  return html`<details class="confirm"><summary>${act}</summary>
<p>${what}</p>
${form}
</details>`;
}
