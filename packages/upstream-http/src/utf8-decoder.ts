import { isAscii, isUtf8 } from 'node:buffer';

const NO_BYTES = Buffer.alloc(0);

/** Text from bytes that come in pieces, cut anywhere. Strict: what is not UTF-8 is not replaced. */
export class Utf8Text {
  /** The beginning of a character whose end has not come. */
  #rest = NO_BYTES;

  /** False where bytes are kept that are no whole character yet. */
  get isWhole(): boolean {
    return this.#rest.length === 0;
  }

  /** The text up to its last whole character; undefined where the bytes are no UTF-8. Keeps nothing of the memory. */
  take(read: Buffer): string | undefined {
    if (this.#rest.length === 0 && isAscii(read)) return read.toString('latin1');
    const bytes = this.#rest.length === 0 ? read : Buffer.concat([this.#rest, read]);
    const end = endOfWhole(bytes);
    const whole = bytes.subarray(0, end);
    if (!isUtf8(whole)) return undefined;
    this.#rest = end === bytes.length ? NO_BYTES : Buffer.from(bytes.subarray(end));
    return whole.toString('utf8');
  }
}

/** The place behind the last character of which all bytes are there, where the bytes are UTF-8. */
function endOfWhole(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes.length;
    if (byte >= 0xc0) return lengthBy(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** How many bytes a character has that begins with this one; 1 where none does. */
function lengthBy(first: number): number {
  if (first > 0xf4) return 1;
  if (first >= 0xf0) return 4;
  return first >= 0xe0 ? 3 : 2;
}
