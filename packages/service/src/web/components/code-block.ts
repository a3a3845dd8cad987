import { type Html, html } from '#kernel/html.ts';
import { PART_TEXTS as TEXTS } from '#web/components/texts.ts';

interface CodeBlock {
  /** Unique on the page. */
  readonly id: string;
  /** What it is: a language, or what it does. */
  readonly label: string;
  readonly code: string;
  /** Breaks long lines, for text that nobody runs. */
  readonly wraps?: boolean;
}

/** Text to copy: a command, a snippet, a key. The button appears where the browser can copy. */
export function codeBlock({ id, label, code, wraps = false }: CodeBlock): Html {
  return html`<figure class="snippet">
<figcaption>${label} <button type="button" class="quiet" data-copy="${id}" data-done="${TEXTS.copied}" hidden>${TEXTS.copy}</button></figcaption>
<pre${wraps ? html` class="wrap"` : undefined} tabindex="0" aria-label="${label}"><code id="${id}">${code}</code></pre>
</figure>`;
}
