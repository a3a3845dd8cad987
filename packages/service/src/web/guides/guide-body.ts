import { type Html, html } from '#kernel/html.ts';
import { codeBlock } from '#web/components/code-block.ts';
import { type Block, inlineOf } from '#web/guides/markdown.ts';
import { GUIDES_TEXTS as TEXTS } from '#web/guides/texts.ts';

type To = (target: string) => string | undefined;

/** The blocks of a chapter as HTML. */
export function bodyOf(blocks: readonly Block[], to: To): Html {
  const count = { code: 0 };
  return html`${blocks.map((block) => html`${shown(block)}\n`)}`;

  function shown(block: Block): Html {
    switch (block.kind) {
      case 'heading':
        return headingOf(block.level, block.id, inlineOf(block.text, to));
      case 'paragraph':
        return html`<p>${inlineOf(block.text, to)}</p>`;
      case 'code':
        count.code += 1;
        return codeBlock({
          id: `code-${count.code}`,
          label: `${block.language || TEXTS.text} ${count.code}`,
          code: block.code,
        });
      case 'list': {
        const items = block.items.map((item) => html`<li><div>${item.map(shown)}</div></li>\n`);
        return block.isNumbered ? html`<ol class="numbered">${items}</ol>` : html`<ul class="bullets">${items}</ul>`;
      }
      case 'table':
        return tableOf(block, to);
    }
  }
}

function headingOf(level: number, id: string, text: Html): Html {
  if (level <= 2) return html`<h2 id="${id}">${text}</h2>`;
  return level === 3 ? html`<h3 id="${id}">${text}</h3>` : html`<h4 id="${id}">${text}</h4>`;
}

/** A table without a caption: the text before it says what it is. */
function tableOf({ head, rows }: Extract<Block, { readonly kind: 'table' }>, to: To): Html {
  const names = head.map((name) => html`<th scope="col">${inlineOf(name, to)}</th>`);
  const lines = rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${inlineOf(cell, to)}</td>`)}</tr>\n`);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${TEXTS.table}"><table class="list"><thead><tr>${names}</tr></thead><tbody>
${lines}</tbody></table></div>`;
}
