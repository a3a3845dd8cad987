import type { ApiKey } from '#developers/keys/api-key.ts';
import { isAmong } from '#catalogue/catalogue.ts';
import { offersTo } from '#catalogue/shown-price.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { warningNotice } from '#web/components/notices.ts';
import { badge, card, codeBlock, codeTabs, section } from '#web/components/parts.ts';
import { type AppRequest, showAppPage } from '#web/console/frame/app-page.ts';
import { snippetsFor } from '#web/console/keys/snippets.ts';
import { KEY_TEXTS as TEXTS, KEYS_TEXTS } from '#web/console/keys/texts.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';
import { lateIn, lateNotice } from '#web/frame/late-notice.ts';

/** Stands for a user where the reader puts one of theirs. */
const SOME_USER = 'anna';

export function nameOf({ settings }: ApiKey): string {
  return settings.name ?? KEYS_TEXTS.unnamed;
}

/** Whether a key still works, in a word. */
export function stateOf({ revokedAtMs, settings, rolledTo }: ApiKey, nowMs: number): Html {
  const { expiresAtMs } = settings;
  if (revokedAtMs !== undefined) return badge(TEXTS.states.revoked, 'warn');
  if (expiresAtMs !== null && expiresAtMs <= nowMs) return badge(TEXTS.states.expired, 'warn');
  return rolledTo === undefined ? badge(TEXTS.states.active, 'good') : badge(TEXTS.states.rolled, 'warn');
}

/** A first call with this key in several languages. `apiKey`: the key itself, if it is shown now. */
export function snippetsOf({ services, app }: AppRequest, key: ApiKey, apiKey?: string): Html {
  const { catalogue, publicUrl } = services;
  const says = html`<p class="soft">${apiKey === undefined ? TEXTS.useAgain : TEXTS.useWhat}</p>`;
  const { models } = key.settings;
  const offers = offersTo(app, catalogue);
  const offer = models === null ? offers[0] : offers.find(({ model }) => isAmong(catalogue, models, model));
  const snippets = snippetsFor({
    publicUrl,
    apiKey: apiKey ?? key.hint,
    model: offer?.name ?? models?.[0] ?? '',
    user: key.boundUser === undefined ? SOME_USER : undefined,
  });
  return section({
    id: 'use',
    heading: TEXTS.use,
    body: [says, codeTabs('language', TEXTS.language, snippets)],
  });
}

/** The answer to a form that was sent again: the key that it made the first time, which is not shown a second time. */
export function toMadeBefore({ to }: AppRequest, keyId: string): PageResponse {
  return redirectTo(to('key', { id: keyId, done: 'before' }));
}

/** The page that shows a key, this once. It is the answer to the form: no address leads here, and nothing keeps the key. */
export function showMinted(
  asked: AppRequest,
  { key, apiKey }: { readonly key: ApiKey; readonly apiKey: string },
  late: readonly string[] = [],
): PageResponse {
  const body = html`${warningNotice(TEXTS.once)}${lateNotice(new URLSearchParams(lateIn(late)))}
${card(
  codeBlock({ id: 'key', label: TEXTS.theKey, code: apiKey }),
  html`<p><a href="${asked.to('key', { id: key.keyId })}">${TEXTS.toKey}</a></p>`,
)}
${snippetsOf(asked, key, apiKey)}`;
  return showAppPage(asked, { title: TEXTS.made, body, page: 'keys', above: KEYS_TEXTS.title });
}
