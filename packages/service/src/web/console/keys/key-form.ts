import { changeKeySchema } from '@purser/contract/keys.ts';
import { keyChangeOf } from '#http/control-plane/apps/keys.ts';
import type { KeySettings } from '#developers/keys/settings.ts';
import type { KeyChange } from '#developers/keys/api-key.ts';
import { isoOf } from '#kernel/time/clock.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { microsToWire } from '#kernel/values/micros.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { fold } from '#web/components/parts.ts';
import { amountField, textArea, textField } from '#web/fields/fields.ts';
import { KEYS_TEXTS as TEXTS } from '#web/console/keys/texts.ts';
import { amountText, parseAmount } from '#web/format/typed-amount.ts';
import { checked, type Form, linesIn } from '#web/forms/form.ts';

const FIELDS = ['name', 'expires', 'models', 'addresses', 'perMinute', 'budget'] as const;
/** The settings of a key as they are typed. */
export type TypedSettings = Readonly<Record<(typeof FIELDS)[number], string>>;

export const NOTHING_TYPED = typedBy(() => '');

export function typedIn(form: Form): TypedSettings {
  return typedBy((name) => form.field(name).trim());
}

function typedBy(textOf: (name: string) => string): TypedSettings {
  return Object.fromEntries(FIELDS.map((name) => [name, textOf(name)])) as TypedSettings;
}

/** The settings of a key as the form shows them. */
export function typedOf(settings: KeySettings): TypedSettings {
  const { name, expiresAtMs, models, addresses, perMinute, monthlyBudget } = settings;
  return {
    name: name ?? '',
    expires: expiresAtMs === null ? '' : dayOf(expiresAtMs),
    models: (models ?? []).join('\n'),
    addresses: (addresses ?? []).join('\n'),
    perMinute: perMinute === null ? '' : String(perMinute),
    budget: monthlyBudget === null ? '' : amountText(monthlyBudget),
  };
}

const NAMES = { name: TEXTS.name, expiresAt: TEXTS.expires, limits: TEXTS.limits };
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const WHOLE = /^\d+$/;

/**
 * What the form changes, by the schema of the route that does the same. An empty field takes the setting away. A day that is
 * still the one of `before` leaves the moment as it is: the API sets it to the millisecond.
 */
export function changeTyped(typed: TypedSettings, before?: KeySettings): KeyChange | Refusal<'BAD_REQUEST'> {
  const { name, expires, perMinute, budget } = typed;
  if (expires !== '' && !DAY.test(expires)) return refuse('BAD_REQUEST', TEXTS.notADay);
  if (perMinute !== '' && !WHOLE.test(perMinute)) return refuse('BAD_REQUEST', TEXTS.notANumber);
  const amount = budget === '' ? null : parseAmount(budget);
  if (amount === undefined) return refuse('BAD_REQUEST', TEXTS.notAnAmount);
  const isSameDay = before !== undefined && expires === typedOf(before).expires;
  const change = {
    name: name === '' ? null : name,
    ...(isSameDay ? {} : { expiresAt: expires === '' ? null : `${expires}T23:59:59.999Z` }),
    limits: {
      models: linesIn(typed.models),
      addresses: linesIn(typed.addresses),
      perMinute: perMinute === '' ? null : Number(perMinute),
      monthlyBudgetMicros: amount === null ? null : microsToWire(amount),
    },
  };
  const given = checked(changeKeySchema, change, NAMES);
  return given instanceof Refusal ? given : keyChangeOf(given);
}

/** Returns the day in UTC, as text of ISO 8601. */
function dayOf(epochMs: number): string {
  return isoOf(epochMs).slice(0, 10);
}

/** The fields of both forms. `isOpen`: the limits are shown at first. `more`: a field at their end. */
export function settingFields(
  typed: TypedSettings,
  currency: string,
  { isOpen, more }: { readonly isOpen: boolean; readonly more?: Html },
): Html {
  const limits = html`${textField({ name: 'perMinute', label: TEXTS.perMinute, value: typed.perMinute, hint: TEXTS.perMinuteHint, inputMode: 'numeric', lengthMax: 7 })}
${amountField({ name: 'budget', label: TEXTS.budget(currency), text: typed.budget })}
<p class="hint">${TEXTS.budgetHint}</p>
${textArea({ name: 'models', label: TEXTS.models, value: typed.models, hint: TEXTS.modelsHint })}
${textArea({ name: 'addresses', label: TEXTS.addresses, value: typed.addresses, hint: TEXTS.addressesHint })}
${more}`;
  return html`${textField({ name: 'name', label: TEXTS.name, value: typed.name, hint: TEXTS.nameHint, lengthMax: 80 })}
${textField({ name: 'expires', label: TEXTS.expires, value: typed.expires, hint: TEXTS.expiresHint, lengthMax: 10 })}
${fold(TEXTS.limits, limits, isOpen)}`;
}
