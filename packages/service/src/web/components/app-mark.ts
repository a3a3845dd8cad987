import { type Html, html } from '#kernel/text/html.ts';
import { MARK_TEXTS } from '#web/components/texts.ts';

interface AppMark {
  readonly name: string;
  /** The digest of its logo, which `/logos/...` serves. Undefined if it has none. */
  readonly logo: string | undefined;
}

/** Which app a page is about: its logo or its initial, and its name. */
export function appMark({ name, logo }: AppMark): Html {
  const picture =
    logo === undefined
      ? initial(name, 'letter')
      : html`<img src="/logos/${logo}" alt="${MARK_TEXTS.logoOf(name)}" width="44" height="44">`;
  return html`<p class="app">${picture}${name}</p>`;
}

/**
 * The first letter of a name, where there is no picture. Hidden from screen readers, which read the name anyway.
 * A letter as people see it: `é` and many emoji are several code points.
 */
export function initial(name: string, kind: 'mark' | 'letter'): Html {
  const [first] = new Intl.Segmenter().segment(name.trim());
  return html`<span class="${kind}" aria-hidden="true">${(first?.segment ?? '').toUpperCase()}</span>`;
}
