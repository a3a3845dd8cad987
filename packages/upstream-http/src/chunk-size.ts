import { AnswerFault } from '#providers/http/head.ts';

/** Its digits and its extensions. */
export const CHUNK_LINE_BYTES_MAX = 1024;
/** Of one chunk: more than a whole answer may have. */
const CHUNK_BYTES_MAX = 0x7fff_ffff;
const DIGITS_MAX = 16;
/** No place in a read: what is there is not enough to go on. */
export const NOTHING_YET = -1;

const CR = 13;
const LF = 10;
const SPACE = 32;
const TAB = 9;
const SEMICOLON = 59;
const DELETE = 127;

/** The line before a chunk. */
interface ChunkLine {
  size: number;
  /** The place behind the line. */
  end: number;
}

/** One for all calls: a stream has a line for each of its chunks. */
const line: ChunkLine = { size: 0, end: 0 };

/** What the size of a chunk is, and where its bytes begin, until the next call; undefined while the line has not ended. */
export function chunkSizeIn(bytes: Buffer, at: number): Readonly<ChunkLine> | undefined {
  let place = at;
  let size = 0;
  for (let digit = digitAt(bytes, place); digit !== -1; digit = digitAt(bytes, place)) {
    size = size * 16 + digit;
    place += 1;
    if (size > CHUNK_BYTES_MAX || place - at > DIGITS_MAX) throw new AnswerFault('has too large a chunk');
  }
  if (place === bytes.length) return undefined;
  if (place === at) throw new AnswerFault('has a chunk without a size');
  if (bytes[place] !== CR) place = endOfExtensions(bytes, place);
  if (place - at > CHUNK_LINE_BYTES_MAX) throw new AnswerFault('has a chunk whose size does not end');
  if (place + 1 >= bytes.length) return undefined;
  if (bytes[place + 1] !== LF) throw new AnswerFault('has a chunk whose size does not end');
  line.size = size;
  line.end = place + 2;
  return line;
}

/** The place of the CR behind them. Of an extension nothing is read, but that it is one. */
function endOfExtensions(bytes: Buffer, at: number): number {
  let place = at;
  while (bytes[place] === SPACE || bytes[place] === TAB) place += 1;
  if (place < bytes.length && bytes[place] !== SEMICOLON) throw new AnswerFault('has a chunk without a size');
  while (place < bytes.length && bytes[place] !== CR) {
    const byte = bytes[place] ?? 0;
    if ((byte < SPACE && byte !== TAB) || byte === DELETE) throw new AnswerFault('has a chunk without a size');
    place += 1;
  }
  return place;
}

/** The value of a hexadecimal digit; -1 for any other byte, and behind the end. */
function digitAt(bytes: Buffer, place: number): number {
  const byte = bytes[place] ?? 0;
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 0x20;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}
