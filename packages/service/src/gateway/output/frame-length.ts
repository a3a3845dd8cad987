/** Some clients refuse lines of more than 64 KB, langchaingo among them. No text makes a line of ours longer than this. */
export const FRAME_BYTES_MAX = 32_000;
/** What of it is for text, unless the rest of the frame is unusually long. */
export const TEXT_BYTES_MAX = 28_000;
/** A character of UTF-16 has at most three bytes in UTF-8. */
const BYTES_OF_CHARACTER = 3;

/** Whether a frame is short enough. Nearly all are, and need not be measured. */
export function isShortFrame(frame: string): boolean {
  return frame.length * BYTES_OF_CHARACTER <= FRAME_BYTES_MAX || Buffer.byteLength(frame) <= FRAME_BYTES_MAX;
}

/** Whether frames that were written together may hold one that is too long: one of these texts, escaped, is in each. */
export function mayBeLong(frames: string, texts: readonly (readonly string[])[]): boolean {
  return frames.length * BYTES_OF_CHARACTER > TEXT_BYTES_MAX && !texts.every((ofPlace) => ofPlace.every(isShortText));
}

/** Whether a text, as JSON writes it between quotes, fits into a frame. */
export function isShortText(escaped: string): boolean {
  return escaped.length * BYTES_OF_CHARACTER <= TEXT_BYTES_MAX;
}

/** A text in pieces that have at most so many bytes in JSON. No piece ends within a character. */
export function piecesOf(text: string, bytesMax = TEXT_BYTES_MAX): readonly string[] {
  const pieces: string[] = [];
  // Texts are alike from piece to piece, so each is first tried a little longer than the one before.
  let length = bytesMax;
  for (let at = 0; at < text.length || pieces.length === 0; ) {
    let piece = text.slice(at, wholeEnd(text, at + length));
    for (let bytes = bytesOf(piece); bytes > bytesMax; bytes = bytesOf(piece)) {
      const shorter = Math.max(1, Math.floor((piece.length * bytesMax) / bytes) - 1);
      piece = text.slice(at, wholeEnd(text, at + shorter));
    }
    pieces.push(piece);
    at += piece.length;
    length = Math.min(bytesMax, Math.ceil(piece.length * 1.1) + 2);
  }
  return pieces;
}

/** The end of a piece, moved before a character of two units that it would divide. */
function wholeEnd(text: string, end: number): number {
  const isDivided = end < text.length && /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(end - 1, end + 1));
  return isDivided ? end - 1 : end;
}

export function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
