import { isAscii, isUtf8 } from 'node:buffer';

const NO_BYTES = Buffer.alloc(0);

/**
 * Decodes UTF-8 that is cut anywhere. It is strict: invalid bytes are reported, not replaced. Most of a stream is ASCII,
 * which takes a check and a copy.
 */
export class Utf8Decoder {
  /** The first bytes of a character whose last byte has not arrived. */
  #rest = NO_BYTES;

  /** Whether the bytes end with a whole character. It is false while they end in the middle of one. */
  get isComplete(): boolean {
    return this.#rest.length === 0;
  }

  /** The text up to the last complete character; undefined if the bytes are not UTF-8. Keeps none of the memory. */
  decode(read: Buffer): string | undefined {
    if (this.#rest.length === 0 && isAscii(read)) return read.toString('latin1');
    const bytes = this.#rest.length === 0 ? read : Buffer.concat([this.#rest, read]);
    const end = endOfComplete(bytes);
    const complete = bytes.subarray(0, end);
    if (!isUtf8(complete)) return undefined;
    this.#rest = end === bytes.length ? NO_BYTES : Buffer.from(bytes.subarray(end));
    return complete.toString('utf8');
  }
}

/** The offset behind the last complete character. The bytes before it may still be invalid. */
function endOfComplete(bytes: Buffer): number {
  // A character has at most four bytes, so an incomplete one begins in the last three.
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes.length;
    if (byte >= 0xc0) return lengthBy(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** The length in bytes of a character that begins with this byte; 1 if none does. */
function lengthBy(first: number): number {
  if (first > 0xf4) return 1;
  if (first >= 0xf0) return 4;
  return first >= 0xe0 ? 3 : 2;
}
