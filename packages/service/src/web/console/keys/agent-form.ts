import type { Html } from '#kernel/text/html.ts';
import { html } from '#kernel/text/html.ts';
import { agentModels, NAMES_MAX } from '#web/coding-agents/agent-models.ts';
import { button, fold } from '#web/components/parts.ts';
import { amountField, checkboxField, selectField, textArea, textField } from '#web/fields/fields.ts';
import type { AppRequest } from '#web/console/frame/app-page.ts';
import { onceField } from '#web/forms/once-field.ts';
import { typedIn, type TypedSettings } from '#web/console/keys/key-form.ts';
import { AGENTS_TEXTS as TEXTS, KEYS_TEXTS } from '#web/console/keys/texts.ts';
import type { Form } from '#web/forms/read-form.ts';

/** A new key for a coding agent, as it is typed. */
export interface AgentKeyTyped {
  readonly settings: TypedSettings;
  readonly user: string;
  /** The model that the lines to paste name. */
  readonly model: string;
  /** Whether its repeats get the answer of the first call. */
  readonly joins: boolean;
}

/** Codex and Claude Code repeat a call within seconds of the moment at which they lost its answer. */
export const JOIN_SECONDS = 30;

export function typedForAgent(form: Form): AgentKeyTyped {
  return {
    settings: typedIn(form),
    user: form.field('user').trim(),
    model: form.field('model'),
    joins: form.field('joins') === 'yes',
  };
}

/** The user first, then what the key may spend: the rest has values that suit most. */
export function agentKeyForm(
  { services: { catalogue, currency }, app, mode, request, to }: AppRequest,
  { settings, user, model, joins }: AgentKeyTyped,
): Html {
  const all = agentModels(app, catalogue, { models: null, chosen: model });
  const choices = all.names.map((name) => ({ value: name, text: name, isChosen: name === all.model }));
  const modelHint = all.names.length < NAMES_MAX ? TEXTS.modelHint : `${TEXTS.modelHint} ${TEXTS.modelsCut(NAMES_MAX)}`;
  const limits = html`${textArea({ name: 'models', label: KEYS_TEXTS.models, value: settings.models, hint: KEYS_TEXTS.modelsHint })}
${textArea({ name: 'addresses', label: KEYS_TEXTS.addresses, value: settings.addresses, hint: KEYS_TEXTS.addressesHint })}
${textField({ name: 'perMinute', label: KEYS_TEXTS.perMinute, value: settings.perMinute, hint: KEYS_TEXTS.perMinuteHint, inputMode: 'numeric', lengthMax: 7 })}`;
  const isLimited = [settings.models, settings.addresses, settings.perMinute].some((typed) => typed !== '');
  return request.form(
    to('agents'),
    html`${onceField()}<div class="columns">
<div>
${textField({ name: 'user', label: TEXTS.user, value: user, hint: mode === 'live' ? TEXTS.userHint : TEXTS.testUserHint, lengthMax: 256, isRequired: true, autocomplete: 'off' })}
${textField({ name: 'name', label: KEYS_TEXTS.name, value: settings.name, hint: TEXTS.nameHint, lengthMax: 80 })}
${choices.length === 0 ? undefined : selectField({ name: 'model', label: TEXTS.model, hint: modelHint, choices })}
</div>
<div>
${amountField({ name: 'budget', label: KEYS_TEXTS.budget(currency), text: settings.budget })}
<p class="hint">${TEXTS.budgetHint}</p>
${textField({ name: 'expires', label: KEYS_TEXTS.expires, value: settings.expires, hint: KEYS_TEXTS.expiresHint, lengthMax: 10 })}
</div>
</div>
${checkboxField({ name: 'joins', label: TEXTS.joins, value: 'yes', isChecked: joins })}
${fold(TEXTS.limits, limits, isLimited)}
${button(TEXTS.create)}`,
  );
}
