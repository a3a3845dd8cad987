/** The bytes of JSON that a scan acts on. */
export const QUOTE = 0x22;
const BACKSLASH = 0x5c;
export const OPEN_ARRAY = 0x5b;
export const CLOSE_ARRAY = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
const COLON = 0x3a;
export const COMMA = 0x2c;

/** Returns true if brackets outside of strings nest deeper than `levels`. */
export function isDeeperThan(bytes: Buffer, levels: number): boolean {
  return countMembers(bytes, levels) === undefined;
}

/** Counts the members of all objects. Undefined if brackets nest deeper than `levels`: it stops at the first one that does. */
export function countMembers(bytes: Buffer, levels: number): number | undefined {
  let depth = 0;
  let members = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (byte === QUOTE) {
      index = endOfString(bytes, index + 1);
    } else if (byte === COLON) {
      members += 1;
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      depth += 1;
      if (depth > levels) return undefined;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      depth -= 1;
    }
  }
  return members;
}

/** Returns true if the objects and arrays have more values than `most`, by their commas. Reads no further than that. */
export function hasMoreValuesThan(bytes: Buffer, most: number): boolean {
  let commas = 0;
  for (let index = 0; index < bytes.length && commas < most; index += 1) {
    const byte = bytes[index];
    if (byte === QUOTE) index = endOfString(bytes, index + 1);
    else if (byte === COMMA) commas += 1;
  }
  return commas >= most;
}

/** The offset of the quote that ends the string, or the end of the bytes. Uses `indexOf`, which is native: prompts are long. */
export function endOfString(bytes: Buffer, from: number): number {
  for (let end = bytes.indexOf(QUOTE, from); end !== -1; end = bytes.indexOf(QUOTE, end + 1)) {
    let escapes = 0;
    while (end - escapes > from && bytes[end - escapes - 1] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return bytes.length;
}
