import { dateOf, epochMsOf, isoOf } from '#kernel/time/clock.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { row } from '#web/components/parts.ts';
import { textField } from '#web/fields/fields.ts';
import type { Formats } from '#web/format/formats.ts';
import type { Form } from '#web/forms/form.ts';
import { FILE_TEXTS as TEXTS } from '#web/ops/bills/texts.ts';

/** A form with a file of a million bytes, and its other fields. */
export const FORM_BYTES_MAX = 1_048_576;

/** The days that a form is about, as they were typed. */
export type TypedPeriod = ReturnType<typeof typedPeriod>;

export function typedPeriod(form: Form) {
  return { from: form.field('from').trim(), to: form.field('to').trim() };
}

/** The calendar month before this one, in UTC. It is the period of most reports and bills. */
export function lastMonth(nowMs: number): TypedPeriod {
  const to = `${isoOf(nowMs).slice(0, 7)}-01`;
  const before = dateOf(epochMsOf(to) - 1);
  return { from: `${isoOf(before.getTime()).slice(0, 7)}-01`, to };
}

/** The days of a period, which ends before `to`. */
export function daysText({ from, to }: TypedPeriod, formats: Formats): string {
  const [first, last] = [formats.day(epochMsOf(from)), formats.day(epochMsOf(to) - 1)];
  return first === last ? first : `${first} – ${last}`;
}

export function periodFields({ from, to }: TypedPeriod): Html {
  return row(
    html`<div>${textField({ name: 'from', label: TEXTS.from, value: from, type: 'date', isRequired: true })}</div>`,
    html`<div>${textField({ name: 'to', label: TEXTS.to, value: to, type: 'date', isRequired: true })}</div>`,
  );
}

export function fileField(label: string, hint: string, accept: string, isRequired: boolean): Html {
  return html`<label for="file">${label}</label>
<input id="file" name="file" type="file" accept="${accept}"${isRequired ? html` required` : undefined} aria-describedby="file-hint">
<p class="hint" id="file-hint">${hint}</p>`;
}
