import { type Html, html } from '#kernel/html.ts';

/** One block of a guide. Only what our guides use: a test reads all of them and refuses anything else. */
export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly id: string; readonly text: string }
  | { readonly kind: 'paragraph'; readonly text: string }
  | { readonly kind: 'code'; readonly language: string; readonly code: string }
  | { readonly kind: 'list'; readonly isNumbered: boolean; readonly items: readonly (readonly Block[])[] }
  | { readonly kind: 'table'; readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] };

const FENCE = /^```(\S*)/;
const HEADING = /^(#{1,4}) (.+)$/;
const ITEM = /^(?:[-*]|(\d+)\.) +(?:\[[ x]\] )?/;

/** Reads the Markdown of our guides. */
export function parseMarkdown(text: string): readonly Block[] {
  return blocksOf(text.split('\n'));
}

function blocksOf(lines: readonly string[]): readonly Block[] {
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? '';
    if (line.trim() === '') {
      at += 1;
      continue;
    }
    const [block, next] = blockAt(lines, at, line);
    blocks.push(block);
    at = next;
  }
  return blocks;
}

/** The block that begins at a line, and the line after it. */
function blockAt(lines: readonly string[], at: number, line: string): readonly [Block, number] {
  const [, marks, title] = HEADING.exec(line) ?? [];
  if (marks !== undefined && title !== undefined) {
    return [{ kind: 'heading', level: marks.length, id: idOf(title), text: title }, at + 1];
  }
  const fence = FENCE.exec(line);
  if (fence !== null) {
    const end = endOf(lines, at + 1, (one) => one.startsWith('```'));
    return [{ kind: 'code', language: fence[1] ?? '', code: lines.slice(at + 1, end).join('\n') }, end + 1];
  }
  if (line.startsWith('|')) {
    const end = endOf(lines, at, (one) => !one.startsWith('|'));
    const [head = [], , ...rows] = lines.slice(at, end).map(cellsOf);
    return [{ kind: 'table', head, rows }, end];
  }
  if (ITEM.test(line)) return listAt(lines, at, line);
  const end = endOf(lines, at + 1, (one) => one.trim() === '' || beginsBlock(one));
  return [
    {
      kind: 'paragraph',
      text: lines
        .slice(at, end)
        .map((one) => one.trim())
        .join(' '),
    },
    end,
  ];
}

function beginsBlock(line: string): boolean {
  return HEADING.test(line) || FENCE.test(line) || line.startsWith('|') || ITEM.test(line);
}

/** A list goes on until a line that is neither an item, nor indented, nor empty before one of these. */
function listAt(lines: readonly string[], at: number, first: string): readonly [Block, number] {
  const isNumbered = /^\d/.test(first);
  const items: string[][] = [];
  let next = at;
  for (; next < lines.length; next += 1) {
    const line = lines[next] ?? '';
    const mark = ITEM.exec(line);
    if (mark !== null && /^\d/.test(line) === isNumbered) items.push([line.slice(mark[0].length)]);
    else if (line.startsWith('  ')) items.at(-1)?.push(line.replace(/^ {1,3}/, '').replace(/^ (?=\S)/, ''));
    else if (line.trim() === '' && goesOn(lines[next + 1], isNumbered)) items.at(-1)?.push('');
    else break;
  }
  return [{ kind: 'list', isNumbered, items: items.map(blocksOf) }, next];
}

function goesOn(line: string | undefined, isNumbered: boolean): boolean {
  if (line === undefined) return false;
  return line.startsWith('  ') || (ITEM.test(line) && /^\d/.test(line) === isNumbered);
}

function endOf(lines: readonly string[], from: number, isEnd: (line: string) => boolean): number {
  for (let at = from; at < lines.length; at += 1) if (isEnd(lines[at] ?? '')) return at;
  return lines.length;
}

/** A bar in code or after a backslash is text. */
function cellsOf(line: string): readonly string[] {
  const cells = line.trim().match(/(?:\\\||`[^`]*`|[^|])+/g) ?? [];
  return cells.map((cell) => cell.trim().replaceAll(String.raw`\|`, '|'));
}

/** The anchor that GitHub gives to a heading, so that one link works there and here. */
function idOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\[((?:`[^`]*`|[^\]])+)\]\(([^)\s]+)\)/g;

/**
 * Writes text with code, strong words and links. `to` gives the address of a link; it returns undefined for a link that
 * leads nowhere here.
 */
export function inlineOf(text: string, to: (target: string) => string | undefined): Html {
  const parts: (Html | string)[] = [];
  let from = 0;
  for (const found of text.matchAll(INLINE)) {
    parts.push(text.slice(from, found.index));
    from = found.index + found[0].length;
    const [, code, strong, label, target] = found;
    if (code !== undefined) parts.push(html`<code>${code}</code>`);
    else if (strong !== undefined) parts.push(html`<strong>${inlineOf(strong, to)}</strong>`);
    else if (label !== undefined && target !== undefined) {
      const href = to(target);
      const words = inlineOf(label, to);
      parts.push(href === undefined ? words : html`<a href="${href}">${words}</a>`);
    }
  }
  return html`${[...parts, text.slice(from)].map((part) => html`${part}`)}`;
}

/** The words of a text, without its marks. */
export function plainOf(text: string): string {
  return text.replaceAll(INLINE, (_all, code, strong, label) => String(code ?? strong ?? label)).replaceAll('`', '');
}
