import type { MarkedToken, Token } from 'marked';
import { type Html, html } from '#kernel/text/html.ts';

type Of<Kind extends MarkedToken['type']> = Extract<MarkedToken, { readonly type: Kind }>;

/** Our guides use these blocks and these parts of a text. Anything else is shown as it is written. */
const BLOCKS = ['heading', 'paragraph', 'text', 'code', 'list', 'table'] as const;
const SPANS = ['text', 'escape', 'codespan', 'strong', 'em', 'link'] as const;
/** Empty lines between blocks and the boxes of a list of tasks are not shown. */
const HIDDEN: readonly string[] = ['space', 'checkbox'];

export type Block = Of<(typeof BLOCKS)[number]>;
export type Heading = Of<'heading'>;
export type Table = Of<'table'>;
type Tokens = readonly Token[] | undefined;

/** Returns the address of a link, or undefined if it leads nowhere here. */
export type To = (target: string) => string | undefined;

/** Reads the Markdown of a guide. */
export async function parseMarkdown(text: string): Promise<readonly Block[]> {
  const { lexer } = await import('marked'); // Most processes show no guide.
  return blocksOf(lexer(text));
}

/** Returns the blocks in a guide or in an item of a list. */
export function blocksOf(tokens: Tokens): readonly Block[] {
  return only(tokens, BLOCKS);
}

function only<Kind extends MarkedToken['type']>(
  tokens: Tokens = [],
  kinds: readonly Kind[],
): (Of<Kind> | Of<'text'>)[] {
  const isKnown = (token: Token): token is Of<Kind> => kinds.some((kind) => kind === token.type);
  return tokens
    .filter(({ type }) => !HIDDEN.includes(type))
    .map((token) => (isKnown(token) ? token : { type: 'text', raw: token.raw, text: token.raw, escaped: false }));
}

/** Returns the anchor that GitHub gives to a heading, so that one link works there and here. */
export function idOf({ tokens }: Heading): string {
  return plainOf(tokens)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Shows the parts of a text as HTML. */
export function inlineOf(tokens: Tokens, to: To): Html {
  return html`${only(tokens, SPANS).map((span) => {
    switch (span.type) {
      case 'codespan':
        return html`<code>${span.text}</code>`;
      case 'strong':
        return html`<strong>${inlineOf(span.tokens, to)}</strong>`;
      case 'em':
        return html`<em>${inlineOf(span.tokens, to)}</em>`;
      case 'link': {
        const href = to(span.href);
        const words = inlineOf(span.tokens, to);
        return href === undefined ? words : html`<a href="${href}">${words}</a>`;
      }
      case 'text':
      case 'escape':
        return html`${span.text.replaceAll('\n', ' ')}`;
    }
  })}`;
}

/** Returns the words of a text, without its marks. */
export function plainOf(tokens: Tokens): string {
  return only(tokens, SPANS)
    .map((span) => ('tokens' in span ? plainOf(span.tokens) : span.text.replaceAll('\n', ' ')))
    .join('');
}
