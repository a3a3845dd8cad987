import { type Html, html } from '#kernel/text/html.ts';
import type { Mode } from '#kernel/values/ids.ts';
import { button } from '#web/components/parts.ts';
import { hiddenField } from '#web/fields/fields.ts';
import { PART_TEXTS as TEXTS } from '#web/components/texts.ts';

export interface FilterField {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  /** The type of the field: a moment, typed to the minute in UTC, or text if it is left out. */
  readonly type?: 'datetime-local';
  /** A list to choose from, with an empty value for all. Without it, a text is typed. */
  readonly choices?: readonly { readonly value: string; readonly text: string }[];
}

/**
 * Narrows a list down. The address has what was chosen, so a list can be reloaded, kept and sent to a colleague. `kept`: what
 * the address has besides, and keeps.
 */
export function filterForm(
  action: string,
  mode: Mode,
  fields: readonly FilterField[],
  kept: Readonly<Record<string, string>> = {},
): Html {
  const firstTime = fields.find(({ type }) => type !== undefined)?.name;
  const shown = fields.map(({ name, label, value, type, choices }) => {
    const field =
      choices === undefined
        ? html`<input id="${name}" name="${name}"${type === undefined ? undefined : html` type="${type}"`} value="${value}" autocomplete="off">`
        : html`<select id="${name}" name="${name}">${choices.map((choice) => optionOf(choice, value))}</select>`;
    const line = name === firstTime ? html`<hr>` : undefined; // Both ends of a range on one line.
    return html`${line}<div><label for="${name}">${label}</label>${field}</div>\n`;
  });
  const all: Readonly<Record<string, string>> = mode === 'sandbox' ? { mode, ...kept } : kept;
  const hidden = Object.entries(all).filter(([, value]) => value !== '');
  return html`<form method="get" action="${action}" class="filter" role="search">
${hidden.map(([name, value]) => hiddenField(name, value))}
${shown}${button(TEXTS.filter, { kind: 'quiet' })}
</form>`;
}

function optionOf({ value, text }: { readonly value: string; readonly text: string }, chosen: string): Html {
  return html`<option value="${value}"${value === chosen ? html` selected` : undefined}>${text}</option>`;
}
