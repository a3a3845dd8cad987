import { type Html, html } from '#kernel/text/html.ts';

interface TextField {
  /** The name of the form field, and its id on the page. */
  readonly name: string;
  readonly label: string;
  /** What it holds at first. A password field never has one. */
  readonly value?: string;
  readonly type?: 'text' | 'email' | 'password' | 'date';
  /** What to type, if the label does not say it. Below the field, so that it stays visible while somebody types. */
  readonly hint?: string;
  /** The hint for password managers and phones: `username`, `one-time-code`, `off` and so on. */
  readonly autocomplete?: string;
  readonly inputMode?: 'decimal' | 'numeric';
  /** The browser counts characters and stops at the maximum. The server counts again: a form can be sent without a browser. */
  readonly lengthMin?: number;
  readonly lengthMax?: number;
  readonly isRequired?: boolean;
  /** What was typed cannot be used. The reason is in the error summary. */
  readonly isInvalid?: boolean;
}

/** A labelled field. The label comes first and the hint last: screen readers read both with the field. */
export function textField(field: TextField): Html {
  const { name, label, hint, isRequired = false, isInvalid = false } = field;
  return html`<label for="${name}">${label}</label>
<input id="${name}" name="${name}"${attributesOf(field)}${isInvalid ? html` aria-invalid="true"` : undefined}${isRequired ? html` required` : undefined}>
${hint === undefined ? undefined : html`<p class="hint" id="${name}-hint">${hint}</p>`}`;
}

/** An attribute that is not set is left out: an empty `autocomplete` or `minlength` would mean something else. */
function attributesOf({ name, value, type, hint, autocomplete, inputMode, lengthMin, lengthMax }: TextField): Html {
  const attributes: readonly (readonly [string, string | number | undefined])[] = [
    ['type', type],
    ['inputmode', inputMode],
    ['autocomplete', autocomplete],
    ['minlength', lengthMin],
    ['maxlength', lengthMax],
    ['value', value],
    ['aria-describedby', hint === undefined ? undefined : `${name}-hint`],
  ];
  return html`${attributes.map(([key, set]) => (set === undefined ? undefined : html` ${key}="${set}"`))}`;
}
