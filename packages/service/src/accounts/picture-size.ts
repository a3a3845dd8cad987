/** How wide and high a browser would make it, in pixels. */
interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** Of a PNG, by its first part; undefined where that is not what it must be. */
export function pngSize(image: Buffer): PictureSize | undefined {
  if (image.length < 33 || image.toString('latin1', 12, 16) !== 'IHDR') return undefined;
  return { width: image.readUInt32BE(16), height: image.readUInt32BE(20) };
}

/** The parts that begin a picture: all of C0 to CF but tables and the like. */
const JPEG_FRAMES: ReadonlySet<number> = new Set([
  0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf,
]);

/** What may stand before it: tables, and what programs and cameras say. Each tells its length. */
const isBefore = (kind: number): boolean => [0xc4, 0xcc, 0xdb, 0xdd, 0xfe].includes(kind) || (kind & 0xf0) === 0xe0;

/** Of a JPEG, by the first part of it that begins a picture. Nothing is passed over that a browser might read otherwise. */
export function jpegSize(image: Buffer): PictureSize | undefined {
  let at = 2;
  while (at + 9 <= image.length && image[at] === 0xff) {
    const kind = image.readUInt8(at + 1);
    if (JPEG_FRAMES.has(kind)) return { width: image.readUInt16BE(at + 7), height: image.readUInt16BE(at + 5) };
    const isFilling = kind === 0xff; // As many as there are between two parts.
    if (!isFilling && !isBefore(kind)) return undefined;
    at += isFilling ? 1 : 2 + image.readUInt16BE(at + 2);
  }
  return undefined;
}

/** Of a WebP of any of its three kinds. */
export function webpSize(image: Buffer): PictureSize | undefined {
  if (image.length < 30) return undefined;
  const kind = image.toString('latin1', 12, 16);
  if (kind === 'VP8X') return { width: 1 + image.readUIntLE(24, 3), height: 1 + image.readUIntLE(27, 3) };
  if (kind === 'VP8 ') return { width: image.readUInt16LE(26) & 0x3f_ff, height: image.readUInt16LE(28) & 0x3f_ff };
  if (kind !== 'VP8L') return undefined;
  const bits = image.readUInt32LE(21);
  return { width: 1 + (bits & 0x3f_ff), height: 1 + ((bits >>> 14) & 0x3f_ff) };
}
