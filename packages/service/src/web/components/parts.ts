import { type Html, html } from '#kernel/text/html.ts';
import { MARK_TEXTS, PART_TEXTS as TEXTS } from '#web/components/texts.ts';

type Part = Html | string | undefined;

interface Section {
  /** The id of the heading. It names the section for screen readers, which can list the sections of a page. */
  readonly id: string;
  readonly heading: Part;
  readonly body: readonly Part[];
}

/** A part of a page with a heading of its own. */
export function section({ id, heading, body }: Section): Html {
  return html`<section aria-labelledby="${id}">
<h2 id="${id}">${heading}</h2>
${linesOf(body)}</section>`;
}

/** A part of a page that needs no heading: the page's own says what it is. */
export function card(...body: readonly Part[]): Html {
  return html`<div class="card">
${linesOf(body)}</div>`;
}

/** Parts that are undefined leave no trace, so that a page can write its conditions in place. */
function linesOf(body: readonly Part[]): readonly Html[] {
  return body.filter((part) => part !== undefined).map((part) => html`${part}\n`);
}

/** A list, an item a line. An item may hold a form: it then stands at the end of the line. */
export function list(items: readonly (Html | string)[]): Html {
  return html`<ul>
${items.map((item) => html`<li>${item}</li>\n`)}</ul>`;
}

/** Sentences, each a paragraph. */
export function paragraphs(sentences: readonly string[]): Html {
  return html`${sentences.map((sentence) => html`<p>${sentence}</p>\n`)}`;
}

/** A term and what it is. Undefined entries are left out, so that a page can write a condition in place. */
type Definition = readonly [term: string, value: Html | string | number] | undefined;

/** Facts about one thing: terms on the left, values on the right. */
export function definitionList(definitions: readonly Definition[]): Html {
  const known = definitions.filter((definition) => definition !== undefined);
  return html`<dl>
${known.map(([term, value]) => html`<dt>${term}</dt><dd>${value}</dd>\n`)}</dl>`;
}

/**
 * Hides something that most readers pass over behind its name. With `isOpen`, it is shown at first, for example because
 * something in it is wrong.
 */
export function fold(name: string, body: Html, isOpen = false): Html {
  return html`<details${isOpen ? html` open` : undefined}>
<summary>${name}</summary>
${body}
</details>`;
}

/** A link on a line of its own: back, to another page, or on without doing anything. */
export function linkLine(href: string, text: string): Html {
  return html`<p><a href="${href}">${text}</a></p>`;
}

interface Target {
  readonly href: string;
  readonly text: string;
}

/** The neighbours of a page that shows part of a list. Undefined when the list has no other page. */
export function pager({ newer, older }: { newer: Target | undefined; older: Target | undefined }): Html | undefined {
  const targets = [newer, older].filter((target) => target !== undefined);
  if (targets.length === 0) return undefined;
  return html`<p class="row">${targets.map(({ href, text }) => html`<a href="${href}">${text}</a> `)}</p>`;
}

/** Where a page is, from the top down. `here` is the page itself and no link. */
export function breadcrumbs(label: string, above: readonly Target[], here: string): Html {
  const links = above.map(({ href, text }) => html`<li><a href="${href}">${text}</a></li>`);
  return html`<nav aria-label="${label}"><ol class="crumbs">${links}<li aria-current="page">${here}</li></ol></nav>`;
}

/** The steps of a task with several pages. `current` counts from 0. */
export function steps(names: readonly string[], current: number): Html {
  const items = names.map(
    (name, at) => html`<li${at === current ? html` aria-current="step"` : undefined}>${name}</li>`,
  );
  return html`<ol class="steps">${items}</ol>`;
}

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

/** A state in a word. `warn`: something does not work as usual. The word alone says it too, for those who see no colour. */
export function badge(text: string, kind: 'good' | 'warn'): Html {
  return html`<span class="badge${kind === 'warn' ? ' warn' : ''}">${text}</span>`;
}

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

interface CodeBlock {
  /** The id, which is unique on the page. */
  readonly id: string;
  /** What it is: a language, or what it does. */
  readonly label: string;
  readonly code: string;
  /** Breaks long lines, for text that nobody runs. */
  readonly wraps?: boolean;
  /** What to know about it, below it. */
  readonly note?: string;
}

/**
 * One of several blocks of code, chosen by its label: radio buttons that look like tabs, so that it works without scripts and the
 * arrow keys go from one to the next. `name` is unique on the page, `what` says what is chosen. At most eight.
 */
export function codeTabs(name: string, what: string, blocks: readonly CodeBlock[]): Html {
  const tabs = blocks.map(
    ({ id, label }, at) =>
      html`<input type="radio" name="${name}" id="${id}-tab"${at === 0 ? html` checked` : undefined}><label for="${id}-tab">${label}</label>\n`,
  );
  return html`<div class="tabs" role="group" aria-label="${what}">
${tabs}${blocks.map((block) => html`${codeBlock(block)}\n`)}</div>`;
}

/** Shows a text to copy: a command, a snippet, a key. The button appears where the browser can copy. */
export function codeBlock({ id, label, code, wraps = false, note }: CodeBlock): Html {
  return html`<figure class="snippet">
<figcaption>${label} <button type="button" class="quiet" data-copy="${id}" data-done="${TEXTS.copied}" hidden>${TEXTS.copy}</button></figcaption>
<pre${wraps ? html` class="wrap"` : undefined} tabindex="0" aria-label="${label}"><code id="${id}">${code}</code></pre>
${note === undefined ? undefined : html`<p class="note">${note}</p>\n`}</figure>`;
}
