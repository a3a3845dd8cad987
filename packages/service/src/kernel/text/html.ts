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
  return escapeHtml(withoutTurns(String(piece)));
}

/** What turns the text around it, or is no text: what people have stored cannot reach beyond its own words (PG-03). */
const TURNS = /(?![\t\n\r])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** Shows a replacement for characters that override or isolate the writing direction, and for controls that break no line. */
export function withoutTurns(text: string): string {
  return text.replace(TURNS, '\ufffd');
}

/** Escapes text for use inside an element or a quoted attribute. Not for script, style or unquoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
