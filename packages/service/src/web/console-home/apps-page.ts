import { newAppSchema } from '@purser/contract/control.ts';
import { type Html, html } from '#kernel/html.ts';
import { Refusal, refuse } from '#kernel/refusal.ts';
import { badge } from '#web/components/badge.ts';
import { button } from '#web/components/button.ts';
import { list } from '#web/components/list.ts';
import { moment } from '#web/components/moment.ts';
import { errorSummary, successNotice } from '#web/components/notices.ts';
import { card, section } from '#web/components/section.ts';
import { textField } from '#web/components/text-field.ts';
import { checkFields } from '@purser/contract/check-fields.ts';
import { showConsolePage } from '#web/console/console-page.ts';
import { appIdOnce, onceField } from '#web/console/once.ts';
import type { ConsoleServices } from '#web/console/console-services.ts';
import { appPath } from '#web/console/mode.ts';
import { APPS_TEXTS as TEXTS } from '#web/console-home/texts.ts';
import type { PageMethods, PageRequest, PageResponse } from '#web/frame/page.ts';
import { redirectTo } from '#web/frame/responses.ts';

/** `/console`: the apps of the account, and the form for a new one. */
export function appsPage(services: ConsoleServices): PageMethods {
  return {
    // Somebody who opened an invitation before they signed in goes on to it.
    GET: (request) =>
      request.signedIn !== undefined && request.cookie('invitation') !== undefined
        ? redirectTo('/invitation')
        : showApps(services, request),
    POST: async (request, form) => {
      const { signedIn } = request;
      if (signedIn === undefined) return redirectTo('/sign-in');
      const typed = { name: form.field('name') };
      const checked = checkFields(newAppSchema, typed, { name: TEXTS.name });
      if ('problems' in checked) {
        const message = checked.problems.map((problem) => problem.message).join(' ');
        return showApps(services, request, { typed: typed.name, refusal: refuse('BAD_REQUEST', message) });
      }
      const { accountId, email } = signedIn.account;
      const owner = { accountId, email, from: services.addressOf(request.exchange.request) };
      const appId = appIdOnce(form, accountId);
      const made = await services.apps.create(owner, { ...checked.value, appId });
      // The form may have been sent before: then this is the app that it made.
      const before =
        made instanceof Refusal && appId !== undefined ? await services.apps.membership(accountId, appId) : undefined;
      const app = before?.app ?? made;
      if (app instanceof Refusal) return showApps(services, request, { typed: typed.name, refusal: app });
      // A new app has nothing live yet, so its owner begins in the sandbox.
      return redirectTo(appPath(app.appId, '', 'sandbox', { done: 'created' }));
    },
  };
}

/** What was typed and why it was refused. */
interface Refused {
  readonly typed: string;
  readonly refusal: Refusal;
}

async function showApps(services: ConsoleServices, request: PageRequest, refused?: Refused): Promise<PageResponse> {
  const { signedIn } = request;
  if (signedIn === undefined) return redirectTo('/sign-in');
  const apps = await services.apps.list(signedIn.account.accountId);
  const items = apps.map(({ app: { appId, name, status, createdAtMs }, role }) => {
    const state = status === 'suspended' ? html` ${badge(TEXTS.suspended, 'warn')}` : undefined;
    return html`<div><a href="${appPath(appId, '', 'live')}"><strong>${name}</strong></a>${state}<br>
<span class="soft">${TEXTS.roles[role]}. ${TEXTS.created} ${moment(createdAtMs, request.formats)}</span></div>`;
  });
  const body = html`${errorSummary(refused?.refusal.message)}${successNotice(TEXTS.done.get(request.query.get('done')))}
<p class="soft">${TEXTS.what}</p>
<div class="columns">
${apps.length === 0 ? card(html`<p>${TEXTS.none}</p>`) : card(list(items))}
${section({ id: 'new', heading: TEXTS.newApp, body: [newAppForm(request, refused)] })}
</div>`;
  return showConsolePage(services, request, { title: TEXTS.title, body, refusal: refused?.refusal });
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
