import { type Html, html } from '#kernel/text/html.ts';

interface SelectField {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly choices: readonly { readonly value: string; readonly text: string; readonly isChosen?: boolean }[];
}

/** One of several values, in one line: for a choice that most people leave as it is. */
export function selectField({ name, label, hint, choices }: SelectField): Html {
  const describedBy = hint === undefined ? undefined : html` aria-describedby="${name}-hint"`;
  const options = choices.map(
    ({ value, text, isChosen = false }) =>
      html`<option value="${value}"${isChosen ? html` selected` : undefined}>${text}</option>\n`,
  );
  return html`<label for="${name}">${label}</label>
<select id="${name}" name="${name}"${describedBy}>
${options}</select>
${hint === undefined ? undefined : html`<p class="hint" id="${name}-hint">${hint}</p>`}`;
}

/** The value of the choice that shows the field of `otherField`. */
export const OTHER = 'other';

/**
 * A field for a value that is not among the choices of its form. It is hidden until `OTHER` is chosen. A browser that cannot
 * style by what is chosen shows it always, so a handler must expect a choice and a typed value together.
 */
export function otherField(field: Html): Html {
  return html`<div class="other">${field}</div>`;
}
