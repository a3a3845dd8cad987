import { addressOf, type Guide, type Reader } from '#web/guides/library.ts';
import { type Block, blocksOf, idOf, plainOf } from '#web/guides/markdown.ts';

interface Found {
  readonly href: string;
  readonly guide: string;
  readonly heading: string;
  /** The text around the first word that was found. */
  readonly excerpt: string;
}

/** One part of a guide under a heading. */
interface Part {
  readonly reader: Reader;
  readonly href: string;
  readonly guide: string;
  readonly heading: string;
  readonly text: string;
  /** Both in lower case, made once: there is nearly a megabyte of it. */
  readonly lower: { readonly heading: string; readonly text: string };
}

/** Of a query, in characters. */
export const QUERY_LENGTH_MAX = 200;
const FOUND_MAX = 30;
const WORDS_MAX = 8;
const EXCERPT_BEFORE = 80;
const EXCERPT_LENGTH = 240;

/** All parts of all guides, as text. */
export function partsOf(guides: readonly Guide[]): readonly Part[] {
  return guides.flatMap((guide) =>
    guide.chapters.flatMap((chapter) => {
      const parts = [{ id: chapter.id, heading: chapter.title, texts: [] as string[] }];
      for (const block of chapter.blocks) {
        if (block.type === 'heading') parts.push({ id: idOf(block), heading: plainOf(block.tokens), texts: [] });
        else parts.at(-1)?.texts.push(...textsOf(block));
      }
      return parts.map(({ id, heading, texts }) => {
        const text = texts.join(' ');
        return {
          reader: guide.reader,
          href: addressOf(guide, id) ?? `/guides/${guide.name}`,
          guide: guide.title,
          heading,
          text,
          lower: { heading: heading.toLowerCase(), text: text.toLowerCase() },
        };
      });
    }),
  );
}

function textsOf(block: Block): readonly string[] {
  switch (block.type) {
    case 'code':
      return [block.text];
    case 'list':
      return block.items.flatMap(({ tokens }) => blocksOf(tokens).flatMap(textsOf));
    case 'table':
      return [block.header, ...block.rows].map((row) => row.map(({ tokens }) => plainOf(tokens)).join(' '));
    case 'heading':
    case 'paragraph':
    case 'text':
      return [plainOf(block.tokens ?? [block])];
  }
}

/** The parts for this reader that have every word of the query: those with words in the heading first, then in the order of the guides. */
export function search(parts: readonly Part[], query: string, reader: Reader): readonly Found[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
    .slice(0, WORDS_MAX);
  if (words.length === 0) return [];
  const hits = parts.flatMap((part) => {
    const { heading, text } = part.lower;
    if (part.reader !== reader || !words.every((word) => heading.includes(word) || text.includes(word))) return [];
    return [{ part, inHeading: words.filter((word) => heading.includes(word)).length }];
  });
  return hits
    .toSorted((one, other) => other.inHeading - one.inHeading)
    .slice(0, FOUND_MAX)
    .map(({ part }) => ({
      href: part.href,
      guide: part.guide,
      heading: part.heading,
      excerpt: excerptOf(part, words),
    }));
}

function excerptOf({ text, lower }: Part, words: readonly string[]): string {
  const found = words.map((word) => lower.text.indexOf(word)).filter((at) => at >= 0);
  const from = Math.max(0, Math.min(...found, text.length) - EXCERPT_BEFORE);
  const start = from === 0 || found.length === 0 ? 0 : text.indexOf(' ', from) + 1;
  const isCut = start + EXCERPT_LENGTH < text.length;
  const end = isCut ? text.lastIndexOf(' ', start + EXCERPT_LENGTH) : text.length;
  const cut = text.slice(start, end > start ? end : start + EXCERPT_LENGTH).replaceAll(/\s+/g, ' ');
  return `${start > 0 ? '… ' : ''}${cut}${isCut ? ' …' : ''}`;
}
