import { appId as appIdOf } from '@purser/contract/identifiers.ts';
import { changeAnyAppSchema, reasonSchema } from '@purser/contract/operator.ts';
import { type Html, html } from '#kernel/text/html.ts';
import type { AppDetails } from '#operator/people/apps.ts';
import { code, opsPath, part } from '#web/ops/frame/details.ts';
import { choicesOf, listPage } from '#web/ops/frame/list-page.ts';
import { APP_TEXTS as TEXTS } from '#web/ops/apps/texts.ts';
import { granted } from '#http/planes/planes.ts';
import { confirmation } from '#web/components/notices.ts';
import { badge, button, definitionList } from '#web/components/parts.ts';
import { checkboxField, textField } from '#web/fields/fields.ts';
import { checked, type Form } from '#web/forms/form.ts';
import { lateIn, lateNotice } from '#web/frame/late-notice.ts';
import { actPage, reasonField } from '#web/ops/frame/act-page.ts';
import type { OpsPage, OpsRequest } from '#web/ops/frame/asked.ts';
import { OPS_TEXTS } from '#web/ops/frame/texts.ts';
import { eventsPart, keysPart, keyState, membersPart, trailPart, usagePart } from '#web/ops/apps/app-parts.ts';
import type { AppId } from '#kernel/values/ids.ts';
import type { KeyOfApp } from '#operator/look-up/keys-and-events.ts';
import { chartOfKey } from '#web/console/keys/key-chart.ts';
import { KEY_TEXTS } from '#web/console/keys/texts.ts';
import { stateBadge, userOf } from '#web/console/webhooks/deliveries-list.ts';
import { attemptsOf, bodyOf } from '#web/console/webhooks/delivery-page.ts';
import { DELIVERY_TEXTS } from '#web/console/webhooks/texts.ts';

const PAGE_LENGTH = 50;
const QUERY_LENGTH_MAX = 256;

/** The page `/ops/apps`, which lists all apps. */
export const appsPage = listPage({
  page: 'apps',
  title: 'Apps',
  fields: () => ({
    query: { label: 'Part of the ID or name, or a member’s complete e-mail address' },
    status: { label: 'State', choices: choicesOf(TEXTS.statuses, 'All') },
  }),
  cursor: { name: 'after', first: 'Newest apps', more: 'Older apps' },
  read: async ({ operator }, { query, status: chosen }, after) => {
    const status = chosen === 'active' || chosen === 'suspended' ? chosen : undefined;
    const text = query.slice(0, QUERY_LENGTH_MAX);
    const { apps, next } = await operator.apps.page({ text, status, after, most: PAGE_LENGTH });
    return { rows: apps, next };
  },
  caption: 'Newest first',
  columns: () => ['Name', 'Owners', 'State', 'Created'],
  cells: ({ moment }, app: AppDetails) => [
    html`<a href="${opsPath('app', { id: app.appId })}">${app.name}</a><br>${code(app.appId)}`,
    app.ownerEmails.length === 0 ? 'nobody' : app.ownerEmails.join(', '),
    html`${stateOf(app)}${app.isFirstParty ? html` ${badge('First party', 'good')}` : undefined}`,
    moment(app.createdAtMs),
  ],
  empty: () => 'No apps match.',
});

/** Whether an app's calls are admitted, in a word. */
export function stateOf({ status }: Pick<AppDetails, 'status'>): Html {
  return badge(TEXTS.statuses[status], status === 'active' ? 'good' : 'warn');
}

const LABELS = {
  rateLimit: TEXTS.ratePerMinute,
  maxStreamsPerUser: TEXTS.maxStreams,
  reason: OPS_TEXTS.reason,
};

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
${part('facts', TEXTS.facts, factsOf(asked, app))}
${formsOf(asked, app, inForce.length, again?.form)}
</div>
${usage}
${keysPart(asked, keys)}
${events}
${membersPart(asked, members)}
${trail}`;
    return asked.show({ title: app.name, body, below: 'apps', refusal: again?.refusal, done: TEXTS.done });
  },
  act: async (asked, form) => {
    const which = form.field('act');
    const done = which === 'suspend' || which === 'resume' ? await halt(asked, form, which) : await change(asked, form);
    const late = lateIn(await asked.operator.whenEverywhere());
    return opsPath('app', { id: asked.asks('id'), done, ...late });
  },
});

function idOf({ asks }: OpsRequest) {
  return appIdOf.parse(asks('id'));
}

async function halt(asked: OpsRequest, form: Form, which: 'suspend' | 'resume'): Promise<string> {
  const { reason } = granted(checked(reasonSchema, { reason: form.field(`reason-${which}`) }, LABELS));
  granted(await asked.operator.apps[which](asked.act(reason), idOf(asked)));
  return which === 'suspend' ? 'suspended' : 'resumed';
}

async function change(asked: OpsRequest, form: Form): Promise<string> {
  const typed = {
    firstParty: form.field('firstParty') === 'yes',
    rateLimit: { perMinute: countOf(form.field('ratePerMinute')), burst: countOf(form.field('rateBurst')) },
    maxStreamsPerUser: countOf(form.field('maxStreams')),
    reason: form.field('reason-change'),
  };
  const given = granted(checked(changeAnyAppSchema.required({ reason: true }), typed, LABELS));
  const { firstParty: isFirstParty, rateLimit, maxStreamsPerUser, reason } = given;
  const limits = { ratePerMinute: rateLimit?.perMinute, rateBurst: rateLimit?.burst, maxStreamsPerUser };
  granted(await asked.operator.apps.change(asked.act(reason), idOf(asked), { isFirstParty, ...limits }));
  return 'changed';
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

/**
 * The page `/ops/key?id=`, which shows one API key of any app, its calls by day, and what was done with it. It
 * never shows the text of the key.
 */
export const keyPage: OpsPage = {
  GET: async (asked) => {
    const found = await asked.operator.anyKey(asked.asks('id'));
    if (found === undefined) return asked.showNoSuch('apps', 'No API key has this ID.');
    const [whose, trail] = await Promise.all([
      appFacts(asked, found.appId),
      trailPart(asked, 'on', { subject: found.key.keyId }),
    ]);
    const body = html`${part('facts', TEXTS.facts, keyFactsOf(asked, found, whose))}
${chartOfKey(found.days) ?? part('calls', KEY_TEXTS.calls, html`<p>No calls with this key in 30 days.</p>`)}
${trail}`;
    return asked.show({ title: found.key.settings.name ?? TEXTS.aKey, body, below: 'apps' });
  },
};

/** The page `/ops/event?id=`, which shows one webhook event of any app, its body and the attempts to deliver it. */
export const eventPage: OpsPage = {
  GET: async (asked) => {
    const { link, moment } = asked;
    const found = await asked.operator.anyEvent(asked.asks('id'));
    if (found === undefined) return asked.showNoSuch('apps', TEXTS.noEvent);
    const { appId, event } = found;
    const user = userOf(event);
    const facts = definitionList([
      [DELIVERY_TEXTS.id, code(event.eventId)],
      [DELIVERY_TEXTS.type, event.type],
      ...(await appFacts(asked, appId)),
      user === undefined ? undefined : ['About the wallet', link({ kind: 'wallet', id: `${appId} ${user}` })],
      [DELIVERY_TEXTS.state, stateBadge(event.state)],
      [DELIVERY_TEXTS.happened, moment(event.createdAtMs)],
      event.nextAttemptAtMs === undefined ? undefined : [DELIVERY_TEXTS.next, moment(event.nextAttemptAtMs)],
    ]);
    const body = html`<div class="columns">
<div>${part('facts', TEXTS.facts, facts)}${attemptsOf(event)}</div>
<div>${bodyOf(event)}</div>
</div>`;
    return asked.show({ title: 'Webhook event', body, below: 'apps' });
  },
};

type Fact = readonly [name: string, value: Html | string];

/** The app of a key or an event and its owners, each with a link. */
async function appFacts({ operator, link }: OpsRequest, appId: AppId): Promise<readonly Fact[]> {
  const [names, { members }] = await Promise.all([operator.apps.names([appId]), operator.teams.list(appId)]);
  const owners = members.filter(({ role }) => role === 'owner');
  const links = owners.map(({ accountId, email }) => html`${link({ kind: 'account', id: accountId }, email)} `);
  return [
    ['App', link({ kind: 'app', id: appId }, names.get(appId))],
    ['Owners', owners.length === 0 ? 'nobody' : html`${links}`],
  ];
}

function keyFactsOf({ clock, moment }: OpsRequest, { key }: KeyOfApp, whose: readonly Fact[]): Html {
  const { keyId, hint, mode, settings, createdAtMs, lastUsedAtMs, revokedAtMs } = key;
  return definitionList([
    [KEY_TEXTS.keyId, code(keyId)],
    [TEXTS.aKey, code(hint)],
    ...whose,
    ['Mode', mode],
    ['State', keyState(key, clock.nowMs())],
    [KEY_TEXTS.created, moment(createdAtMs)],
    [KEY_TEXTS.lastUsed, lastUsedAtMs === undefined ? TEXTS.never : moment(lastUsedAtMs)],
    settings.expiresAtMs === null ? undefined : [KEY_TEXTS.expires, moment(settings.expiresAtMs)],
    revokedAtMs === undefined ? undefined : [KEY_TEXTS.revoked, moment(revokedAtMs)],
  ]);
}
