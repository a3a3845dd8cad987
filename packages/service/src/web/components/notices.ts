import { type Html, html } from '#kernel/text/html.ts';

/** One thing wrong with a form, and the id of the field that it is about. */
interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

/**
 * What went wrong, at the top of the page, before the form. Screen readers read it out at once (`role="alert"`).
 * Several problems become links to their fields, so that a keyboard gets there with one press. Undefined if there is nothing to say.
 */
export function errorSummary(problem: string | readonly FieldProblem[] | undefined): Html | undefined {
  if (problem === undefined || problem.length === 0) return undefined;
  if (typeof problem === 'string') return html`<p class="alert" role="alert">${problem}</p>`;
  const items = problem.map(({ field, message }) => html`<li><a href="#${field}">${message}</a></li>`);
  return html`<div class="alert" role="alert"><ul>${items}</ul></div>`;
}

/** What was just done. Screen readers read it out when they are idle (`role="status"`). Undefined if there is nothing to say. */
export function successNotice(message: string | undefined): Html | undefined {
  return message === undefined ? undefined : html`<p class="good" role="status">${message}</p>`;
}

/** Shows something to know before going on. It was there when the page was opened, so it interrupts nobody. */
export function warningNotice(message: string): Html {
  return html`<p class="alert">${message}</p>`;
}

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
