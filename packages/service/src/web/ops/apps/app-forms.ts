import { type Html, html } from '#kernel/text/html.ts';
import type { AppDetails } from '#operator/people/apps.ts';
import { button } from '#web/components/button.ts';
import { checkboxField } from '#web/fields/checkbox-field.ts';
import { confirmation } from '#web/components/confirm.ts';
import { section } from '#web/components/section.ts';
import { textField } from '#web/fields/text-field.ts';
import type { Form } from '#web/forms/read-form.ts';
import type { OpsRequest } from '#web/ops/frame/for-operator.ts';
import { APP_TEXTS as TEXTS } from '#web/ops/apps/texts.ts';

/** What admins change of an app: its rights and limits, and whether it is suspended. */
export function appForms(
  asked: OpsRequest,
  app: AppDetails,
  { keys, form }: { readonly keys: number; readonly form: Form | undefined },
): Html {
  const { formats } = asked.request;
  const { ratePerMinute, rateBurst, maxStreamsPerUser } = app.limits;
  const [perMinute, burst, streams] = [ratePerMinute, rateBurst, maxStreamsPerUser].map((count) =>
    formats.count(count),
  ) as [string, string, string];
  const now = html`<p class="soft">${TEXTS.changeHint(perMinute, burst, streams)}</p>`;
  const act = app.status === 'active' ? 'suspend' : 'resume';
  // Of a form that was refused: what was typed, not what is in force.
  const typed = form?.field('act') === 'change' ? form : undefined;
  const fields = html`${numberField('ratePerMinute', TEXTS.ratePerMinute, ratePerMinute, typed)}
${numberField('rateBurst', TEXTS.rateBurst, rateBurst, typed)}
${numberField('maxStreams', TEXTS.maxStreams, maxStreamsPerUser, typed)}
${checkboxField({
  name: 'firstParty',
  label: TEXTS.firstParty,
  value: 'yes',
  isChecked: typed === undefined ? app.isFirstParty : typed.field('firstParty') === 'yes',
})}
${reasonField('change', form)}
${button(TEXTS.change, { name: 'act', value: 'change' })}`;
  const query = `id=${encodeURIComponent(app.appId)}`;
  return section({
    id: 'rights',
    heading: TEXTS.rights,
    body: [
      now,
      asked.form('app', fields, { query }),
      asked.may('app') ? statusForm(asked, { act, query, keys, form }) : undefined,
    ],
  });
}

function statusForm(
  asked: OpsRequest,
  { act, query, keys, form }: { act: 'suspend' | 'resume'; query: string; keys: number; form: Form | undefined },
): Html {
  const kind = act === 'suspend' ? ({ kind: 'danger' } as const) : {};
  const fields = html`${reasonField(act, form)}\n${button(TEXTS[act], { ...kind, name: 'act', value: act })}`;
  return confirmation({
    act: TEXTS[act],
    what: act === 'suspend' ? TEXTS.suspendWhat(keys) : TEXTS.resumeWhat,
    form: asked.form('app', fields, { query }),
  });
}

function numberField(name: string, label: string, inForce: number, typed: Form | undefined): Html {
  const value = typed === undefined ? String(inForce) : typed.field(name);
  return textField({ name, label, value, inputMode: 'numeric', lengthMax: 9, isRequired: true });
}

/** Each form of a page has a reason of its own, so that no id is there twice. */
function reasonField(act: string, form: Form | undefined): Html {
  const name = `reason-${act}`;
  return textField({ name, label: TEXTS.reason, value: form?.field(name) ?? '', lengthMax: 500, isRequired: true });
}
