import { checkFields } from '@purser/contract/check-fields.ts';
import { appId as appIdOf } from '@purser/contract/identifiers.ts';
import { changeAnyAppSchema, reasonSchema } from '@purser/contract/operator.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { AppDetails } from '#operator/people/apps.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { moment } from '#web/figures/moment.ts';
import { lateIn, lateNotice } from '#web/frame/late-notice.ts';
import { errorSummary, successNotice } from '#web/components/notices.ts';
import { section } from '#web/components/section.ts';
import type { PageMethods, PageResponse } from '#web/frame/page.ts';
import type { Form } from '#web/forms/read-form.ts';
import { redirectTo } from '#web/frame/responses.ts';
import { forOperator, type OpsRequest } from '#web/ops/frame/for-operator.ts';
import { showNoSuch, showOpsPage } from '#web/ops/frame/ops-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import type { OpsServices } from '#web/ops/frame/services.ts';
import { mayOpen } from '#web/ops/frame/links.ts';
import { appForms } from '#web/ops/apps/app-forms.ts';
import { eventsSection, keysSection, membersSection, usageSection } from '#web/ops/apps/app-parts.ts';
import { stateOf } from '#web/ops/apps/apps-page.ts';
import { APP_TEXTS as TEXTS, APPS_TEXTS } from '#web/ops/apps/texts.ts';
import { trailSection } from '#web/ops/apps/trail.ts';

const FIELD_NAMES = {
  rateLimit: TEXTS.ratePerMinute,
  maxStreamsPerUser: TEXTS.maxStreams,
  reason: TEXTS.reason,
};

/** Makes the page `/ops/app?id=`, which shows one app. Its forms do what the routes for operators do. */
export function appPage(services: OpsServices): PageMethods {
  return forOperator(services, {
    GET: (asked) => showApp(services, asked),
    POST: async (asked, form) => {
      const done = await act(services, asked, form);
      if (done instanceof Refusal) return showApp(services, asked, { refusal: done, form });
      const late = lateIn(await services.operator.whenEverywhere());
      return redirectTo(opsPath('app', { id: idOf(asked), done, ...late }));
    },
  });
}

function idOf({ request }: OpsRequest): string {
  return request.query.get('id')?.trim() ?? '';
}

async function act({ operator: { apps } }: OpsServices, asked: OpsRequest, form: Form): Promise<string | Refusal> {
  const appId = appIdOf.parse(idOf(asked));
  const which = form.field('act');
  if (which !== 'suspend' && which !== 'resume') return change({ apps }, asked, form);
  const checked = checkFields(reasonSchema, { reason: form.field(`reason-${which}`) }, FIELD_NAMES);
  if ('problems' in checked) return refuse('BAD_REQUEST', checked.problems.map(({ message }) => message).join(' '));
  const done = await apps[which](asked.act(checked.value.reason), appId);
  if (done instanceof Refusal) return done;
  return which === 'suspend' ? 'suspended' : 'resumed';
}

async function change(
  { apps }: Pick<OpsServices['operator'], 'apps'>,
  asked: OpsRequest,
  form: Form,
): Promise<string | Refusal> {
  const typed = {
    firstParty: form.field('firstParty') === 'yes',
    rateLimit: { perMinute: countOf(form.field('ratePerMinute')), burst: countOf(form.field('rateBurst')) },
    maxStreamsPerUser: countOf(form.field('maxStreams')),
    reason: form.field('reason-change'),
  };
  const checked = checkFields(changeAnyAppSchema.required({ reason: true }), typed, FIELD_NAMES);
  if ('problems' in checked) return refuse('BAD_REQUEST', checked.problems.map(({ message }) => message).join(' '));
  const { firstParty: isFirstParty, rateLimit, maxStreamsPerUser, reason } = checked.value;
  const settings = {
    isFirstParty,
    ratePerMinute: rateLimit?.perMinute,
    rateBurst: rateLimit?.burst,
    maxStreamsPerUser,
  };
  const done = await apps.change(asked.act(reason), appIdOf.parse(idOf(asked)), settings);
  return done instanceof Refusal ? done : 'changed';
}

/** A text that is no whole number stays a text, so that the schema says what is wrong. */
function countOf(text: string): number | string {
  return /^\d{1,9}$/.test(text.trim()) ? Number(text) : text;
}

async function showApp(
  services: OpsServices,
  asked: OpsRequest,
  again?: { readonly refusal: Refusal; readonly form: Form },
): Promise<PageResponse> {
  const { operator } = services;
  const { request } = asked;
  const app = await operator.apps.find(appIdOf.parse(idOf(asked)));
  if (app === undefined) {
    return showNoSuch(services, asked, { message: TEXTS.noSuch, page: 'apps', above: APPS_TEXTS.title });
  }
  const { appId } = app;
  const [keys, { members }, usage, events, trail] = await Promise.all([
    operator.listKeys(appId),
    operator.teams.list(appId),
    usageSection(services, asked, appId),
    eventsSection(services, asked, appId),
    trailSection(services, asked, 'on', { appId }),
  ]);
  const nowMs = services.clock.nowMs();
  const inForce = keys.filter(
    ({ revokedAtMs, settings: { expiresAtMs } }) => revokedAtMs === undefined && (expiresAtMs ?? Infinity) > nowMs,
  );
  const body = html`${errorSummary(again?.refusal.message)}${successNotice(TEXTS.done.get(request.query.get('done')))}${lateNotice(request.query)}
<div class="columns">
${section({ id: 'facts', heading: TEXTS.facts, body: [factsOf(asked, app)] })}
${appForms(asked, app, { keys: inForce.length, form: again?.form })}
</div>
${usage}
${keysSection(asked, keys, nowMs)}
${events}
${membersSection(asked, members)}
${trail}`;
  const page = { title: app.name, body, page: 'apps', above: APPS_TEXTS.title };
  return showOpsPage(services, asked, { ...page, refusal: again?.refusal });
}

function factsOf({ role, request: { formats } }: OpsRequest, app: AppDetails): Html {
  const { appId, redirectUris, returnUri, createdAtMs } = app;
  const facts = definitionList([
    [TEXTS.appId, html`<code>${appId}</code>`],
    [TEXTS.state, stateOf(app)],
    [TEXTS.created, moment(createdAtMs, formats)],
    [TEXTS.redirects, redirectUris.length === 0 ? TEXTS.none : redirectUris.join(' ')],
    [TEXTS.returns, returnUri ?? TEXTS.none],
  ]);
  const wallets = mayOpen(role, 'wallets')
    ? html`<p><a href="${opsPath('wallets', { app: appId })}">${TEXTS.wallets}</a></p>`
    : undefined;
  return html`${facts}\n${wallets}`;
}
