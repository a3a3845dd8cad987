import { type Html, html } from '#kernel/text/html.ts';
import { PART_TEXTS as TEXTS } from '#web/components/texts.ts';

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
