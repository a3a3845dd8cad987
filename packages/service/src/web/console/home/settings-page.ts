import { changeAppSchema } from '@purser/contract/control.ts';
import { pictureOf } from '#developers/apps/logo.ts';
import { html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { button } from '#web/components/button.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { moment } from '#web/figures/moment.ts';
import { errorSummary, successNotice } from '#web/components/notices.ts';
import { card, section } from '#web/components/section.ts';
import { textArea } from '#web/fields/text-area.ts';
import { checked } from '#web/forms/checked.ts';
import { textField } from '#web/fields/text-field.ts';
import { type AppRequest, forApp } from '#web/console/frame/app-page.ts';
import { showAppPage } from '#web/console/frame/console-page.ts';
import type { ConsoleHomeServices } from '#web/console/home/services.ts';
import { logoSection } from '#web/console/home/logo-form.ts';
import { HOME_TEXTS, SETTINGS_TEXTS as TEXTS } from '#web/console/home/texts.ts';
import { withFieldLabels } from '#web/forms/field-labels.ts';
import type { PageMethods, PageResponse } from '#web/frame/page.ts';
import { redirectTo } from '#web/frame/responses.ts';

const FIELD_NAMES = {
  name: TEXTS.name,
  redirectUris: TEXTS.redirectUris,
  returnUri: TEXTS.returnUri,
  image: TEXTS.logoField,
};

/** Shows at `/console/:part/settings` the app's name and the addresses that its users may be led back to. */
export function settingsPage(services: ConsoleHomeServices): PageMethods {
  return forApp(services, {
    GET: (asked) => showSettings(services, asked, typedOf(asked)),
    POST: async (asked, form) => {
      const typed = {
        name: form.field('name'),
        redirectUris: form.field('redirectUris'),
        returnUri: form.field('returnUri').trim(),
      };
      const given = checked(changeAppSchema, changeOf(typed), FIELD_NAMES);
      if (given instanceof Refusal) return showSettings(services, asked, typed, given);
      const { name, redirectUris, returnUri } = given;
      const changed = await services.apps.change(asked.owner, asked.app.appId, { name, redirectUris, returnUri });
      if (changed instanceof Refusal)
        return showSettings(services, asked, typed, withFieldLabels(changed, FIELD_NAMES));
      return redirectTo(asked.to('settings', { done: 'saved' }));
    },
  });
}

/** Takes at `/console/:part/logo` the picture that users see. */
export function logoForm(services: ConsoleHomeServices): PageMethods {
  return forApp(services, {
    GET: (asked) => redirectTo(asked.to('settings')),
    POST: async (asked, form) => {
      const { owner, app, to } = asked;
      if (form.field('remove') !== '') {
        await services.logos.remove(owner, app.appId);
        return redirectTo(to('settings', { done: 'no-logo' }));
      }
      const image = form.file('image');
      const logo = image === undefined ? refuse('BAD_REQUEST', TEXTS.logoChoose) : pictureOf(image);
      if (logo instanceof Refusal)
        return showSettings(services, asked, typedOf(asked), withFieldLabels(logo, FIELD_NAMES));
      await services.logos.set(owner, app.appId, logo);
      return redirectTo(to('settings', { done: 'logo' }));
    },
  });
}

/** The fields as they are typed. */
interface Typed {
  readonly name: string;
  readonly redirectUris: string;
  readonly returnUri: string;
}

/** What the form shows at first. */
function typedOf({ app: { name, redirectUris, returnUri } }: AppRequest): Typed {
  return { name, redirectUris: redirectUris.join('\n'), returnUri: returnUri ?? '' };
}

/** The form as the API would have it. */
function changeOf({ name, redirectUris, returnUri }: Typed) {
  const addresses = redirectUris
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return { name, redirectUris: addresses, returnUri: returnUri === '' ? null : returnUri };
}

async function showSettings(
  services: ConsoleHomeServices,
  asked: AppRequest,
  typed: Typed,
  refusal?: Refusal,
): Promise<PageResponse> {
  const { request, app, to } = asked;
  const fields = html`${textField({ name: 'name', label: TEXTS.name, value: typed.name, lengthMax: 100, isRequired: true })}
${textArea({ name: 'redirectUris', label: TEXTS.redirectUris, value: typed.redirectUris, hint: TEXTS.redirectHint })}
${textField({ name: 'returnUri', label: TEXTS.returnUri, value: typed.returnUri, hint: TEXTS.returnHint })}
${button(TEXTS.save)}`;
  const facts = definitionList([
    [HOME_TEXTS.appId, html`<code>${app.appId}</code>`],
    [HOME_TEXTS.created, moment(app.createdAtMs, request.formats)],
  ]);
  const body = html`${errorSummary(refusal?.message)}${successNotice(TEXTS.done.get(request.query.get('done')))}
<div class="columns">
${section({ id: 'profile', heading: TEXTS.profile, body: [asked.may('settings') ? request.form(to('settings'), fields) : asked.tooLow()] })}
<div>
${asked.may('logo') ? logoSection(asked, await services.logos.digestOf(app.appId)) : undefined}
${card(facts)}
</div>
</div>`;
  return showAppPage(services, asked, { title: TEXTS.title, body, page: 'settings', refusal });
}
