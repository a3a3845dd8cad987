import { EVENT_TYPES, putWebhookSchema } from '@purser/contract/webhooks.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { type Micros, micros, microsToWire } from '#kernel/values/micros.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { Subscription } from '#webhooks/subscriptions/subscription.ts';
import { button } from '#web/components/parts.ts';
import { checked } from '#web/forms/checked.ts';
import { amountField, checkboxField, textField } from '#web/fields/fields.ts';
import { EVENT_TEXTS, WEBHOOKS_TEXTS as TEXTS } from '#web/console/webhooks/texts.ts';
import { amountText, parseAmount } from '#web/format/typed-amount.ts';
import type { Form } from '#web/forms/read-form.ts';

/** The fields as they are typed. */
export interface Typed {
  readonly endpointUrl: string;
  readonly events: readonly string[];
  readonly threshold: string;
}

/** What the page calls the fields of the route. */
export const NAMES = { endpointUrl: TEXTS.url, events: TEXTS.events, lowBalanceThresholdMicros: 'Threshold' };

/** What the form shows at first: the subscription, or all events for an app that has none. */
export function typedOf(subscription: Subscription | undefined): Typed {
  if (subscription === undefined) return { endpointUrl: '', events: EVENT_TYPES, threshold: '1.00' };
  const { endpointUrl, events, threshold } = subscription;
  return { endpointUrl, events, threshold: threshold === undefined ? '' : amountText(threshold) };
}

export function readTyped(form: Form): Typed {
  return {
    endpointUrl: form.field('endpointUrl').trim(),
    events: EVENT_TYPES.filter((type) => form.field(type) !== ''),
    threshold: form.field('threshold').trim(),
  };
}

/** What the route would be sent. A threshold without `balance.low` is left out: the field is always on the page. */
export function wantedOf({ endpointUrl, events, threshold }: Typed) {
  const wantsLow = events.includes('balance.low');
  const amount = wantsLow && threshold !== '' ? parseAmount(threshold) : undefined;
  if (wantsLow && threshold !== '' && amount === undefined) return refuse('BAD_REQUEST', TEXTS.thresholdFault);
  const low = amount === undefined ? {} : { lowBalanceThresholdMicros: microsToWire(amount) };
  const given = checked(putWebhookSchema, { endpointUrl, events, ...low }, NAMES);
  if (given instanceof Refusal) return given;
  const { lowBalanceThresholdMicros: most } = given;
  const limit: Micros | undefined = typeof most === 'number' ? micros(BigInt(most)) : undefined;
  return { endpointUrl: given.endpointUrl, events: given.events, threshold: limit };
}

export function endpointFields(
  { endpointUrl, events, threshold }: Typed,
  {
    currency,
    action,
    refusal,
  }: { readonly currency: string; readonly action: string; readonly refusal: Refusal | undefined },
): Html {
  return html`${textField({
    name: 'endpointUrl',
    label: TEXTS.url,
    value: endpointUrl,
    hint: TEXTS.urlHint,
    autocomplete: 'off',
    lengthMax: 2_048,
    isRequired: true,
    isInvalid: refusal?.detail.param === 'endpointUrl',
  })}
<p><strong>${TEXTS.events}</strong></p>
${EVENT_TYPES.map((type) => html`${checkboxField({ name: type, label: EVENT_TEXTS[type], value: 'yes', isChecked: events.includes(type) })}\n`)}
${amountField({ name: 'threshold', label: TEXTS.threshold(currency), text: threshold })}
${button(action, { name: 'act', value: 'put' })}`;
}
