import { type Html, html } from '#kernel/text/html.ts';
import { AMOUNT_TEXTS } from '#web/components/texts.ts';
import { parseAmount } from '#web/format/typed-amount.ts';

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

interface AmountField {
  readonly name: string;
  /** Names the currency: the field itself has room for digits only. */
  readonly label: string;
  /** What it holds at first: an amount as `amountText` writes it, or what was typed before. */
  readonly text: string;
  readonly isRequired?: boolean;
}

/**
 * The limit is 20 characters: the largest amount has 10 digits, a separator and 6 decimals, and spaces may be pasted
 * around it.
 */
const LENGTH_MAX = 20;

/**
 * A field for an amount of money. It is a text field, because a number field rejects the decimal comma in some browsers.
 * A text that `parseAmount` cannot read is marked as wrong.
 */
export function amountField({ name, label, text, isRequired = false }: AmountField): Html {
  return textField({
    name,
    label,
    value: text,
    type: 'text',
    hint: AMOUNT_TEXTS.hint,
    autocomplete: 'off',
    inputMode: 'decimal',
    lengthMax: LENGTH_MAX,
    isRequired,
    isInvalid: text !== '' && parseAmount(text) === undefined,
  });
}

interface TextArea {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly hint?: string;
  readonly isInvalid?: boolean;
  /** How many lines are in sight. */
  readonly rows?: number;
}

/** A labelled field for several lines. */
export function textArea({ name, label, value, hint, isInvalid = false, rows = 4 }: TextArea): Html {
  const describedBy = hint === undefined ? undefined : html` aria-describedby="${name}-hint"`;
  return html`<label for="${name}">${label}</label>
<textarea id="${name}" name="${name}" rows="${rows}"${describedBy}${isInvalid ? html` aria-invalid="true"` : undefined}>
${value}</textarea>
${hint === undefined ? undefined : html`<p class="hint" id="${name}-hint">${hint}</p>`}`;
}

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

interface ChoiceField {
  readonly name: string;
  /** The question. Screen readers say it with every choice. */
  readonly legend: string;
  readonly hint?: string;
  readonly choices: readonly Choice[];
}

interface Choice {
  readonly value: string;
  readonly text: string;
  readonly isChosen?: boolean;
  /** Its id on the page, where `name-value` would stand twice. */
  readonly id?: string;
}

/** A few choices, of which one can be made: shown all at once, as large buttons, two in a row. */
export function choiceField({ name, legend, hint, choices }: ChoiceField): Html {
  const describedBy = hint === undefined ? undefined : html` aria-describedby="${name}-hint"`;
  return html`<fieldset class="choices"${describedBy}>
<legend>${legend}</legend>
${choices.map((choice) => choiceOf(name, choice))}</fieldset>
${hint === undefined ? undefined : html`<p class="hint" id="${name}-hint">${hint}</p>`}`;
}

/** The input is inside its label: the whole box can be clicked, and `:has` in the style marks the box that is chosen. */
function choiceOf(name: string, { value, text, isChosen = false, id = `${name}-${value}` }: Choice): Html {
  return html`<label for="${id}"><input id="${id}" type="radio" name="${name}" value="${value}"${isChosen ? html` checked` : undefined}><span>${text}</span></label>
`;
}

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

/** The name of the field with the proof. The handler of a form reads it before anything else. */
export const PROOF_FIELD = 'form';

interface ProvenForm {
  readonly action: string;
  /** An HMAC of `action` under the visitor's session, see `web/serving/form-proof.ts`. */
  readonly proof: string;
  readonly fields: Html;
  /** Whether the form has a field for a file. */
  readonly hasFile?: boolean | undefined;
}

/** A form that posts to `action`, with its proof. Pages use `request.form`, which fills in the proof; never this. */
export function provenForm({ action, proof, fields, hasFile = false }: ProvenForm): Html {
  return html`<form method="post" action="${action}"${hasFile ? html` enctype="multipart/form-data"` : undefined}>
${hiddenField(PROOF_FIELD, proof)}
${fields}
</form>`;
}

/** A value that a form carries and nobody sees. Anybody can change it: the handler must check it as any other. */
export function hiddenField(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}
