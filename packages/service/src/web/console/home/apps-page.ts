import { newAppSchema } from '@purser/contract/control.ts';
import { type Html, html } from '#kernel/text/html.ts';
import type { AppId } from '#kernel/values/ids.ts';
import { type Micros, micros } from '#kernel/values/micros.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import { CONSOLE_SCRIPT } from '#web/assets/console-script.ts';
import { moment } from '#web/figures/figures.ts';
import { errorSummary, successNotice } from '#web/components/notices.ts';
import { badge, button, card, list, section } from '#web/components/parts.ts';
import { appIdOnce, checked, onceField } from '#web/forms/form.ts';
import { textField } from '#web/fields/fields.ts';
import type { ConsoleMethods, ConsoleRequest, ConsoleServices } from '#web/console/frame/app-page.ts';
import { PERIODS } from '#web/console/home/period.ts';
import { appPath } from '#web/console/frame/mode.ts';
import { APPS_TEXTS as TEXTS } from '#web/console/home/texts.ts';
import { type PageRequest, type PageResponse, redirectTo } from '#web/frame/page.ts';
import { showOwnerPage } from '#web/frame/owner-page.ts';

/** The number of apps that `byApp` sums. */
const SUMS_MAX = 100;

/** Shows at `/console` the apps of the account, and the form for a new one. */
export const appsPage: ConsoleMethods = {
  // Somebody who opened an invitation before they signed in goes on to it.
  GET: (request) =>
    request.signedIn !== undefined && request.cookie('invitation') !== undefined
      ? redirectTo('/invitation')
      : showApps(request),
  POST: async (request, form) => {
    const { services, signedIn } = request;
    if (signedIn === undefined) return redirectTo('/sign-in');
    const typed = { name: form.field('name') };
    const given = checked(newAppSchema, typed, { name: TEXTS.name });
    if (given instanceof Refusal) return showApps(request, { typed: typed.name, refusal: given });
    const { accountId, email } = signedIn.account;
    const owner = { accountId, email, from: services.addressOf(request.exchange.request) };
    const appId = appIdOnce(form, accountId);
    const made = await services.apps.create(owner, { ...given, appId });
    // The form may have been sent before: then this is the app that it made.
    const before =
      made instanceof Refusal && appId !== undefined ? await services.apps.membership(accountId, appId) : undefined;
    const app = before?.app ?? made;
    if (app instanceof Refusal) return showApps(request, { typed: typed.name, refusal: app });
    // A new app has nothing live yet, so its owner begins in the sandbox.
    return redirectTo(appPath(app.appId, '', 'sandbox', { done: 'created' }));
  },
};

/** What was typed and why it was refused. */
interface Refused {
  readonly typed: string;
  readonly refusal: Refusal;
}

async function showApps(request: ConsoleRequest, refused?: Refused): Promise<PageResponse> {
  const { services, signedIn } = request;
  if (signedIn === undefined) return redirectTo('/sign-in');
  const apps = await services.apps.list(signedIn.account.accountId);
  const spent = await spentBy(
    services,
    apps.map(({ app }) => app.appId),
  );
  const items = apps.map(({ app: { appId, name, status, createdAtMs }, role }) => {
    const state = status === 'suspended' ? html` ${badge(TEXTS.suspended, 'warn')}` : undefined;
    const sum = spent(appId);
    return html`<div><a href="${appPath(appId, '', 'live')}"><strong>${name}</strong></a>${state}<br>
<span class="soft">${TEXTS.roles[role]}. ${TEXTS.created} ${moment(createdAtMs, request.formats)}</span></div>
${sum === undefined ? undefined : html`<p class="spent"><span class="soft">${TEXTS.spent}</span> ${request.formats.coins(sum, services.currency)}</p>`}`;
  });
  const body = html`${errorSummary(refused?.refusal.message)}${successNotice(TEXTS.done.get(request.query.get('done')))}
<p class="soft">${TEXTS.what}</p>
<div class="columns">
${apps.length === 0 ? card(html`<p>${TEXTS.none}</p>`) : card(list(items))}
${section({ id: 'new', heading: TEXTS.newApp, body: [newAppForm(request, refused)] })}
</div>
${CONSOLE_SCRIPT.element}`;
  const refusal = refused?.refusal;
  return showOwnerPage(request, { title: TEXTS.title, body, refusal, script: CONSOLE_SCRIPT });
}

/** What users of each app were charged in the last 30 days, in one statement. Undefined for an app beyond the hundred that cost most. */
async function spentBy(
  { stats, clock }: ConsoleServices,
  appIds: readonly AppId[],
): Promise<(appId: AppId) => Micros | undefined> {
  if (appIds.length === 0) return () => undefined;
  const toMs = clock.nowMs();
  const all = await stats.byApp({ appIds, mode: 'live', fromMs: toMs - PERIODS.month.lengthMs, toMs });
  const sums = new Map(all.map(({ appId, charged }) => [appId, charged]));
  return (appId) => sums.get(appId) ?? (sums.size < SUMS_MAX ? micros(0n) : undefined);
}

function newAppForm(request: PageRequest, refused: Refused | undefined): Html {
  const field = textField({
    name: 'name',
    label: TEXTS.name,
    value: refused?.typed ?? '',
    hint: TEXTS.nameHint,
    lengthMax: 100,
    isRequired: true,
    isInvalid: refused !== undefined,
  });
  return request.form('/console', html`${onceField()}${field}\n${button(TEXTS.create)}`);
}
