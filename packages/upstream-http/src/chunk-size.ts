import { ProtocolError } from './response-head.ts';

/** The longest chunk-size line that is accepted, extensions included. */
export const CHUNK_LINE_BYTES_MAX = 1024;
/** The largest chunk that is accepted. It is more than a whole response may have. */
const CHUNK_BYTES_MAX = 0x7fff_ffff;
/** Leading zeros are allowed, but not without end. */
const DIGITS_MAX = 16;
/** This is returned instead of an offset if the bytes so far are too few to go on. */
export const INCOMPLETE = -1;

const CR = 13;
const LF = 10;
const SPACE = 32;
const TAB = 9;
const SEMICOLON = 59;
const DELETE = 127;

/** The line before a chunk. */
interface ChunkLine {
  size: number;
  /** The offset behind the line. */
  end: number;
}

/** One object for all calls: a stream has a size line for every chunk, so this is the hottest loop of the parser. */
const line: ChunkLine = { size: 0, end: 0 };

/**
 * Reads the chunk-size line that begins at `at`; undefined until its CRLF has arrived. The result is valid until the next
 * call. It reads bytes and makes no string, because most lines have only two or three digits.
 */
export function chunkSizeIn(bytes: Buffer, at: number): Readonly<ChunkLine> | undefined {
  let place = at;
  let size = 0;
  for (let digit = digitAt(bytes, place); digit !== -1; digit = digitAt(bytes, place)) {
    size = size * 16 + digit;
    place += 1;
    if (size > CHUNK_BYTES_MAX || place - at > DIGITS_MAX) throw new ProtocolError('has too large a chunk');
  }
  if (place === bytes.length) return undefined;
  if (place === at) throw new ProtocolError('has a chunk without a size');
  if (bytes[place] !== CR) place = endOfExtensions(bytes, place);
  if (place - at > CHUNK_LINE_BYTES_MAX) throw new ProtocolError('has too long a chunk-size line');
  if (place + 1 >= bytes.length) return undefined;
  if (bytes[place + 1] !== LF) throw new ProtocolError('has a chunk-size line that does not end in CRLF');
  line.size = size;
  line.end = place + 2;
  return line;
}

/** The offset of the CR behind the chunk extensions. They are ignored, but must be extensions: `;`, then no controls. */
function endOfExtensions(bytes: Buffer, at: number): number {
  let place = at;
  while (bytes[place] === SPACE || bytes[place] === TAB) place += 1;
  if (place < bytes.length && bytes[place] !== SEMICOLON) throw new ProtocolError('has a chunk without a size');
  while (place < bytes.length && bytes[place] !== CR) {
    const byte = bytes[place] ?? 0;
    if ((byte < SPACE && byte !== TAB) || byte === DELETE) throw new ProtocolError('has a malformed chunk extension');
    place += 1;
  }
  return place;
}

/** The value of the hexadecimal digit at `place`; -1 for any other byte and behind the end. */
function digitAt(bytes: Buffer, place: number): number {
  const byte = bytes[place] ?? 0;
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 0x20; // In lower case.
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}
