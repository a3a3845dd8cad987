import { type Html, html } from '#kernel/text/html.ts';
import { button } from '#web/components/button.ts';
import { hiddenField } from '#web/fields/form.ts';
import { section } from '#web/components/section.ts';
import type { AppRequest } from '#web/console/frame/app-page.ts';
import { SETTINGS_TEXTS as TEXTS } from '#web/console/home/texts.ts';

/** The app's picture, and the forms that set and remove it. */
export function logoSection({ request, app, to }: AppRequest, digest: string | undefined): Html {
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
