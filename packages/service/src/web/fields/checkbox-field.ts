import { type Html, html } from '#kernel/text/html.ts';

interface CheckboxField {
  readonly name: string;
  /** The whole statement that somebody agrees to. */
  readonly label: string;
  /** What the form carries when it is checked. */
  readonly value: string;
  readonly isChecked?: boolean;
  /** The browser sends no form until it is checked. The server still has to look: a browser can be told not to. */
  readonly isRequired?: boolean;
}

/** A box to check, with its statement. The statement is part of the target, so that it is easy to hit on a phone. */
export function checkboxField({ name, label, value, isChecked = false, isRequired = false }: CheckboxField): Html {
  return html`<label for="${name}"><input id="${name}" name="${name}" type="checkbox" value="${value}"${isRequired ? html` required` : undefined}${isChecked ? html` checked` : undefined}>
<span>${label}</span></label>`;
}
