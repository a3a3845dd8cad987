/** Text that is safe to send as HTML. Only `html` makes it, so a string can never reach a page unescaped by mistake. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Piece = Html | string | number | undefined | readonly Piece[];

/**
 * Makes HTML as a template tag. The template's own text is kept as written; inserted values are escaped unless they are
 * `Html`.
 */
export function html(written: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  return new Html(String.raw({ raw: written }, ...pieces.map(textOf)));
}

function textOf(piece: Piece): string {
  if (piece === undefined) return '';
  if (piece instanceof Html) return piece.text;
  if (typeof piece === 'object') return piece.map(textOf).join('');
  return escapeHtml(String(piece));
}

/** Escapes text for use inside an element or a quoted attribute. Not for script, style or unquoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
