/** The size at which a browser would decode the picture, in pixels. */
interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** Reads the size of a PNG from its first chunk, which must be IHDR: width and height at bytes 16 and 20. */
export function pngSize(image: Buffer): PictureSize | undefined {
  // 33 bytes are the signature and a whole IHDR chunk. A shorter file is cut off.
  if (image.length < 33 || image.toString('latin1', 12, 16) !== 'IHDR') return undefined;
  return { width: image.readUInt32BE(16), height: image.readUInt32BE(20) };
}

/** The markers that begin a frame: C0 to CF, except C4 and CC (tables) and C8 (reserved). */
const JPEG_FRAMES: ReadonlySet<number> = new Set([
  0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf,
]);

/** Segments that may come before the frame: tables, comments, and data of programs and cameras. Each carries its length. */
const isBefore = (kind: number): boolean => [0xc4, 0xcc, 0xdb, 0xdd, 0xfe].includes(kind) || (kind & 0xf0) === 0xe0;

/**
 * Reads the size of a JPEG from its first frame header. Only segments known to be harmless are skipped: with any other, a
 * browser might find a different frame than we do, and decode a larger picture than we allowed.
 */
export function jpegSize(image: Buffer): PictureSize | undefined {
  let at = 2;
  while (at + 9 <= image.length && image[at] === 0xff) {
    const kind = image.readUInt8(at + 1);
    if (JPEG_FRAMES.has(kind)) return { width: image.readUInt16BE(at + 7), height: image.readUInt16BE(at + 5) };
    const isFilling = kind === 0xff; // Any number of fill bytes may come before a marker.
    if (!isFilling && !isBefore(kind)) return undefined;
    at += isFilling ? 1 : 2 + image.readUInt16BE(at + 2);
  }
  return undefined;
}

/** Reads the size of a WebP in any of its three formats: extended, lossy, lossless. */
export function webpSize(image: Buffer): PictureSize | undefined {
  if (image.length < 30) return undefined;
  const kind = image.toString('latin1', 12, 16);
  if (kind === 'VP8X') return { width: 1 + image.readUIntLE(24, 3), height: 1 + image.readUIntLE(27, 3) };
  if (kind === 'VP8 ') return { width: image.readUInt16LE(26) & 0x3f_ff, height: image.readUInt16LE(28) & 0x3f_ff };
  if (kind !== 'VP8L') return undefined;
  const bits = image.readUInt32LE(21); // 14 bits of width less one, then 14 bits of height less one.
  return { width: 1 + (bits & 0x3f_ff), height: 1 + ((bits >>> 14) & 0x3f_ff) };
}
