import { type Html, html } from '#kernel/text/html.ts';

/**
 * With `quiet`, the button is one of several ways on. With `danger`, it takes something away. Without a kind, it is the
 * one thing that the page is for.
 */
type ButtonKind = 'quiet' | 'danger';

interface Button {
  readonly kind?: ButtonKind;
  /** Goes with the form, for a form that has several buttons. */
  readonly name?: string;
  readonly value?: string;
  /** Says more than the text does, to screen readers: which session a button of a list ends, for example. */
  readonly label?: string;
}

/** The button that sends a form. */
export function button(text: string, { kind, name, value, label }: Button = {}): Html {
  const attributes = Object.entries({ class: kind, name, value, 'aria-label': label });
  return html`<button${attributes.map(([key, set]) => (set === undefined ? undefined : html` ${key}="${set}"`))}>${text}</button>`;
}

/** A link that looks like a button, the main one unless it is `quiet`: the way on, where nothing has to be sent. */
export function buttonLink(href: string, text: string, kind?: 'quiet'): Html {
  return html`<p><a class="button${kind === undefined ? '' : ' quiet'}" href="${href}">${text}</a></p>`;
}

/** A link that looks like a button and opens a new tab, because this page has something that must not be lost. */
export function buttonLinkAside(href: string, text: string): Html {
  return html`<p><a class="button quiet" href="${href}" target="_blank" rel="noopener">${text}</a></p>`;
}

/** Things side by side, as far as there is room. */
export function row(...parts: readonly (Html | undefined)[]): Html {
  return html`<div class="row">
${parts.filter((part) => part !== undefined).map((part) => html`${part}\n`)}</div>`;
}
