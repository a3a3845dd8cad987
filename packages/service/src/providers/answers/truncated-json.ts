const STRUCTURE = /["{}[\],:]/g;
/** An escape at the end that is not whole. */
const TORN_ESCAPE = /(?<=(?<!\\)(?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?$/;
/** This is longer than any escape, so that only the end of a long text is searched for one. */
const ESCAPE_CHARACTERS_MAX = 64;

/**
 * Closes JSON text that was cut off anywhere, so that it can be parsed: a text that was begun ends there, and a number or word that
 * was begun is dropped, like a name without its value. Text that was not JSON before it was cut is not afterwards.
 */
export function closeTruncatedJson(text: string): string {
  /** The closing brackets of what is open, the innermost last. */
  const open: string[] = [];
  /** The text up to here is whole values. */
  let safe = 0;
  let isName = false;
  STRUCTURE.lastIndex = 0;
  for (let match = STRUCTURE.exec(text); match !== null; match = STRUCTURE.exec(text)) {
    const [sign] = match;
    const behind = match.index + 1;
    if (sign === '"') {
      const end = endOfText(text, behind);
      if (end === -1) return isName ? closed(text.slice(0, safe), open) : closed(`${withoutTornEscape(text)}"`, open);
      STRUCTURE.lastIndex = end + 1;
      if (!isName) safe = end + 1;
      continue;
    }
    if (sign === '{' || sign === '[') open.push(sign === '{' ? '}' : ']');
    else if (sign === '}' || sign === ']') open.pop();
    isName = (sign === '{' || sign === ',') && open.at(-1) === '}';
    // A comma is not safe itself, but what is before it is whole.
    if (sign !== ':') safe = sign === ',' ? match.index : behind;
  }
  return closed(text.slice(0, safe), open);
}

function closed(text: string, open: readonly string[]): string {
  return text + open.toReversed().join('');
}

function withoutTornEscape(text: string): string {
  return text.slice(0, -ESCAPE_CHARACTERS_MAX) + text.slice(-ESCAPE_CHARACTERS_MAX).replace(TORN_ESCAPE, '');
}

/** The offset of the quote that ends the text at `from`; -1 if it was cut off. */
function endOfText(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text[end - escapes - 1] === '\\') escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return -1;
}
