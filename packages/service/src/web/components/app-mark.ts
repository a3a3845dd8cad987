import type { AppProfile } from '#accounts/app-profile.ts';
import { type Html, html } from '#kernel/html.ts';
import { letterOf } from '#web/frame/layout.ts';
import { FRAME_TEXTS } from '#web/frame/texts.ts';

/** Which app a page is about: its picture, or its letter, and its name. */
export function appMark({ name, logo }: Pick<AppProfile, 'name' | 'logo'>): Html {
  const picture =
    logo === undefined
      ? html`<span class="letter" aria-hidden="true">${letterOf(name)}</span>`
      : html`<img src="/logos/${logo}" alt="${FRAME_TEXTS.logoOf(name)}" width="44" height="44">`;
  return html`<p class="app">${picture}${name}</p>`;
}
