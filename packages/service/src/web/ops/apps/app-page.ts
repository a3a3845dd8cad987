import { appId as appIdOf } from '@purser/contract/identifiers.ts';
import { changeAnyAppSchema, reasonSchema } from '@purser/contract/operator.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import type { AppDetails } from '#operator/people/apps.ts';
import { button } from '#web/components/button.ts';
import { confirmation } from '#web/components/confirm.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { checkboxField } from '#web/fields/checkbox-field.ts';
import { textField } from '#web/fields/text-field.ts';
import { checked } from '#web/forms/checked.ts';
import type { Form } from '#web/forms/read-form.ts';
import { lateIn, lateNotice } from '#web/frame/late-notice.ts';
import { actPage, reasonField } from '#web/ops/frame/act-page.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { code, part } from '#web/ops/frame/details.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { OPS_TEXTS } from '#web/ops/frame/texts.ts';
import { eventsPart, keysPart, membersPart, usagePart } from '#web/ops/apps/app-parts.ts';
import { stateOf } from '#web/ops/apps/apps-page.ts';
import { APP_TEXTS as TEXTS } from '#web/ops/apps/texts.ts';
import { trailPart } from '#web/ops/apps/trail.ts';

const LABELS = { rateLimit: TEXTS.ratePerMinute, maxStreamsPerUser: TEXTS.maxStreams, reason: OPS_TEXTS.reason };

/** The page `/ops/app?id=`, which shows one app. Its forms do what the routes for operators do. */
export const appPage = actPage({
  show: async (asked, again) => {
    const { operator, query } = asked;
    const app = await operator.apps.find(idOf(asked));
    if (app === undefined) return asked.showNoSuch('apps', 'There is no such app.');
    const { appId } = app;
    const [keys, { members }, usage, events, trail] = await Promise.all([
      operator.listKeys(appId),
      operator.teams.list(appId),
      usagePart(asked, appId),
      eventsPart(asked, appId),
      trailPart(asked, 'on', { appId }),
    ]);
    const nowMs = asked.clock.nowMs();
    const inForce = keys.filter(
      ({ revokedAtMs, settings: { expiresAtMs } }) => revokedAtMs === undefined && (expiresAtMs ?? Infinity) > nowMs,
    );
    const body = html`${lateNotice(query)}
<div class="columns">
${part('facts', 'Facts', factsOf(asked, app))}
${formsOf(asked, app, inForce.length, again?.form)}
</div>
${usage}
${keysPart(asked, keys)}
${events}
${membersPart(asked, members)}
${trail}`;
    const done = TEXTS.done.get(query.get('done'));
    return asked.show({ title: app.name, body, below: 'apps', refusal: again?.refusal, done });
  },
  act: async (asked, form) => {
    const which = form.field('act');
    const done = which === 'suspend' || which === 'resume' ? await halt(asked, form, which) : await change(asked, form);
    if (done instanceof Refusal) return done;
    const late = lateIn(await asked.operator.whenEverywhere());
    return opsPath('app', { id: asked.asks('id'), done, ...late });
  },
});

function idOf({ asks }: OpsRequest) {
  return appIdOf.parse(asks('id'));
}

async function halt(asked: OpsRequest, form: Form, which: 'suspend' | 'resume'): Promise<string | Refusal> {
  const given = checked(reasonSchema, { reason: form.field(`reason-${which}`) }, LABELS);
  if (given instanceof Refusal) return given;
  const done = await asked.operator.apps[which](asked.act(given.reason), idOf(asked));
  if (done instanceof Refusal) return done;
  return which === 'suspend' ? 'suspended' : 'resumed';
}

async function change(asked: OpsRequest, form: Form): Promise<string | Refusal> {
  const typed = {
    firstParty: form.field('firstParty') === 'yes',
    rateLimit: { perMinute: countOf(form.field('ratePerMinute')), burst: countOf(form.field('rateBurst')) },
    maxStreamsPerUser: countOf(form.field('maxStreams')),
    reason: form.field('reason-change'),
  };
  const given = checked(changeAnyAppSchema.required({ reason: true }), typed, LABELS);
  if (given instanceof Refusal) return given;
  const { firstParty: isFirstParty, rateLimit, maxStreamsPerUser, reason } = given;
  const limits = { ratePerMinute: rateLimit?.perMinute, rateBurst: rateLimit?.burst, maxStreamsPerUser };
  const done = await asked.operator.apps.change(asked.act(reason), idOf(asked), { isFirstParty, ...limits });
  return done instanceof Refusal ? done : 'changed';
}

/** A text that is no whole number stays a text, so that the schema says what is wrong. */
function countOf(text: string): number | string {
  return /^\d{1,9}$/.test(text.trim()) ? Number(text) : text;
}

function factsOf({ mayOpen, moment }: OpsRequest, app: AppDetails): Html {
  const { appId, redirectUris, returnUri, createdAtMs } = app;
  const facts = definitionList([
    ['App ID', code(appId)],
    ['State', stateOf(app)],
    ['Created', moment(createdAtMs)],
    ['Redirect addresses', redirectUris.length === 0 ? TEXTS.none : redirectUris.join(' ')],
    ['Return address', returnUri ?? TEXTS.none],
  ]);
  const wallets = html`<p><a href="${opsPath('wallets', { app: appId })}">Wallets of its users</a></p>`;
  return html`${facts}\n${mayOpen('wallets') ? wallets : undefined}`;
}

/** What admins change of an app: its rights and limits, and whether it is suspended. `form`: one that was refused. */
function formsOf(asked: OpsRequest, app: AppDetails, keys: number, form: Form | undefined): Html {
  const { count } = asked.formats;
  const { ratePerMinute, rateBurst, maxStreamsPerUser } = app.limits;
  // Of a form that was refused: what was typed, not what is in force.
  const typed = form?.field('act') === 'change' ? form : undefined;
  const number = (name: string, label: string, inForce: number) => {
    const value = typed?.field(name) ?? String(inForce);
    return textField({ name, label, value, inputMode: 'numeric', lengthMax: 9, isRequired: true });
  };
  const reason = (act: string) => reasonField({ name: `reason-${act}`, value: form?.field(`reason-${act}`) });
  const isChecked = typed === undefined ? app.isFirstParty : typed.field('firstParty') === 'yes';
  const fields = html`${number('ratePerMinute', TEXTS.ratePerMinute, ratePerMinute)}
${number('rateBurst', 'Calls at once, after a quiet period', rateBurst)}
${number('maxStreams', TEXTS.maxStreams, maxStreamsPerUser)}
${checkboxField({ name: 'firstParty', label: 'First party: it may call reserved models', value: 'yes', isChecked })}
${reason('change')}
${button('Change rights and limits', { name: 'act', value: 'change' })}`;
  const query = { id: app.appId };
  const act = app.status === 'active' ? 'suspend' : 'resume';
  const kind = act === 'suspend' ? ({ kind: 'danger' } as const) : {};
  const halting = html`${reason(act)}\n${button(TEXTS[act], { ...kind, name: 'act', value: act })}`;
  const what = act === 'suspend' ? TEXTS.suspendWhat(keys) : 'Within a second, calls with its keys are accepted again.';
  return part(
    'rights',
    'Rights and limits',
    html`<p class="soft">${TEXTS.changeHint(count(ratePerMinute), count(rateBurst), count(maxStreamsPerUser))}</p>`,
    asked.form('app', fields, { query }),
    asked.may('app') ? confirmation({ act: TEXTS[act], what, form: asked.form('app', halting, { query }) }) : undefined,
  );
}
