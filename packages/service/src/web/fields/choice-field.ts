import { type Html, html } from '#kernel/text/html.ts';

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
