import { changeAppSchema } from '@purser/contract/control.ts';
import { pictureOf } from '#developers/apps/logo.ts';
import { html, type Html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { moment } from '#web/figures/figures.ts';
import { errorSummary, successNotice } from '#web/components/notices.ts';
import { button, card, definitionList, section } from '#web/components/parts.ts';
import { hiddenField, textArea, textField } from '#web/fields/fields.ts';
import { type AppRequest, forApp, showAppPage } from '#web/console/frame/app-page.ts';
import { checked, linesIn, withFieldLabels } from '#web/forms/form.ts';
import { HOME_TEXTS, SETTINGS_TEXTS as TEXTS } from '#web/console/home/texts.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';

const FIELD_NAMES = {
  name: TEXTS.name,
  redirectUris: TEXTS.redirectUris,
  returnUri: TEXTS.returnUri,
  image: TEXTS.logoField,
};

/** Shows at `/console/:part/settings` the app's name and the addresses that its users may be led back to. */
export const settingsPage = forApp({
  GET: (asked) => showSettings(asked, typedOf(asked)),
  POST: async (asked, form) => {
    const typed = {
      name: form.field('name'),
      redirectUris: form.field('redirectUris'),
      returnUri: form.field('returnUri').trim(),
    };
    const given = checked(changeAppSchema, changeOf(typed), FIELD_NAMES);
    if (given instanceof Refusal) return showSettings(asked, typed, given);
    const { name, redirectUris, returnUri } = given;
    const changed = await asked.services.apps.change(asked.owner, asked.app.appId, { name, redirectUris, returnUri });
    if (changed instanceof Refusal) return showSettings(asked, typed, withFieldLabels(changed, FIELD_NAMES));
    return redirectTo(asked.to('settings', { done: 'saved' }));
  },
});

/** Takes at `/console/:part/logo` the picture that users see. */
export const logoForm = forApp({
  GET: (asked) => redirectTo(asked.to('settings')),
  POST: async (asked, form) => {
    const { owner, app, to } = asked;
    if (form.field('remove') !== '') {
      await asked.services.logos.remove(owner, app.appId);
      return redirectTo(to('settings', { done: 'no-logo' }));
    }
    const image = form.file('image');
    const logo = image === undefined ? refuse('BAD_REQUEST', TEXTS.logoChoose) : pictureOf(image);
    if (logo instanceof Refusal) return showSettings(asked, typedOf(asked), withFieldLabels(logo, FIELD_NAMES));
    await asked.services.logos.set(owner, app.appId, logo);
    return redirectTo(to('settings', { done: 'logo' }));
  },
});

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
  return { name, redirectUris: linesIn(redirectUris) ?? [], returnUri: returnUri === '' ? null : returnUri };
}

async function showSettings(asked: AppRequest, typed: Typed, refusal?: Refusal): Promise<PageResponse> {
  const { services, request, app, to } = asked;
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
  return showAppPage(asked, { title: TEXTS.title, body, page: 'settings', refusal });
}

/** The app's picture, and the forms that set and remove it. */
function logoSection({ request, app, to }: AppRequest, digest: string | undefined): Html {
  const fields = html`<label for="image">${TEXTS.logoField}</label>
<input id="image" name="image" type="file" accept="image/png,image/jpeg,image/webp" required aria-describedby="image-hint">
<p class="hint" id="image-hint">${TEXTS.logoHint}</p>
${button(TEXTS.logoSave)}`;
  const picture =
    digest === undefined
      ? undefined
      : html`<p class="app"><img src="/logos/${digest}" alt="${TEXTS.logoOf(app.name)}" width="44" height="44"></p>`;
  const remove = html`${hiddenField('remove', 'yes')}\n${button(TEXTS.logoRemove, { kind: 'quiet' })}`;
  return section({
    id: 'logo',
    heading: TEXTS.logo,
    body: [
      picture,
      request.form(to('logo'), fields, { hasFile: true }),
      digest === undefined ? undefined : request.form(to('logo'), remove),
    ],
  });
}
