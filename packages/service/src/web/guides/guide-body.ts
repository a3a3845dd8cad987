import { type Html, html } from '#kernel/text/html.ts';
import { codeBlock } from '#web/components/parts.ts';
import {
  type Block,
  blocksOf,
  type Heading,
  idOf,
  inlineOf,
  plainOf,
  type Table,
  type To,
} from '#web/guides/markdown.ts';
import { GUIDES_TEXTS as TEXTS } from '#web/guides/texts.ts';

/** The blocks of a chapter as HTML. */
export function bodyOf(blocks: readonly Block[], to: To): Html {
  const count = { code: 0 };
  return html`${blocks.map((block) => html`${shown(block)}\n`)}`;

  function shown(block: Block): Html {
    switch (block.type) {
      case 'heading':
        return headingOf(block, inlineOf(block.tokens, to));
      case 'paragraph':
      case 'text':
        return html`<p>${inlineOf(block.tokens ?? [block], to)}</p>`;
      case 'code':
        count.code += 1;
        return codeBlock({
          id: `code-${count.code}`,
          label: `${languageOf(block.lang) || TEXTS.text} ${count.code}`,
          code: block.text,
        });
      case 'list': {
        const items = block.items.map(({ tokens }) => html`<li><div>${blocksOf(tokens).map(shown)}</div></li>\n`);
        return block.ordered ? html`<ol class="numbered">${items}</ol>` : html`<ul class="bullets">${items}</ul>`;
      }
      case 'table':
        return tableOf(block, to);
    }
  }
}

/** Returns the first word after the fence. What follows it is for the test that runs the block. */
function languageOf(words: string | undefined): string {
  return words?.split(' ')[0] ?? '';
}

function headingOf(heading: Heading, text: Html): Html {
  const id = idOf(heading);
  if (heading.depth <= 2) return html`<h2 id="${id}">${text}</h2>`;
  return heading.depth === 3 ? html`<h3 id="${id}">${text}</h3>` : html`<h4 id="${id}">${text}</h4>`;
}

/** The most columns of a table whose cells each get a line of their own on a phone. A wider table is scrolled. */
const STACKED_COLUMNS_MAX = 4;

/** Shows a table without a caption: the text before it says what it is. */
function tableOf({ header, rows }: Table, to: To): Html {
  const names = header.map(({ tokens }) => html`<th scope="col">${inlineOf(tokens, to)}</th>`);
  const labelOf = (at: number) =>
    at > 0 && header.length > 2 ? html` data-label="${plainOf(header[at]?.tokens ?? [])}: "` : undefined;
  const lines = rows.map(
    (cells) => html`<tr>${cells.map(({ tokens }, at) => html`<td${labelOf(at)}>${inlineOf(tokens, to)}</td>`)}</tr>\n`,
  );
  const look = header.length > STACKED_COLUMNS_MAX ? 'wide' : 'stacked';
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${TEXTS.table}"><table class="list ${look}"><thead><tr>${names}</tr></thead><tbody>
${lines}</tbody></table></div>`;
}
