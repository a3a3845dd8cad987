import { createHash } from 'node:crypto';
import { CsvReader, type CsvRecord } from '#reconciliation/files/csv.ts';
import { FileFault } from '#reconciliation/files/file-fault.ts';

/** A file, piece by piece. A file that is in memory is an array with one piece. */
export type Pieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** The limit is 50 MiB, which is a month of about 250,000 payments. */
export const FILE_BYTES_MAX = 52_428_800;

/** The text of a file, piece by piece, with its digest once it was read. */
interface FileText {
  readonly texts: AsyncGenerator<string>;
  /** Returns the SHA-256 of the bytes. Call it after the last piece. */
  readonly digest: () => Buffer;
}

/** Reads a file as UTF-8, with or without a byte order mark. Throws `FileFault` for other bytes, and above `most` of them. */
export function textOf(pieces: Pieces, most = FILE_BYTES_MAX): FileText {
  const hash = createHash('sha256');
  async function* texts(): AsyncGenerator<string> {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    let bytes = 0;
    for await (const piece of pieces) {
      bytes += piece.length;
      if (bytes > most) {
        throw new FileFault(`The file is larger than ${most} bytes.`, { isTooLarge: true });
      }
      hash.update(piece);
      yield decoded(decoder, piece);
    }
    yield decoded(decoder, undefined);
  }
  return { texts: texts(), digest: () => hash.digest() };
}

/** The end of a file is decoded too: it may break off within a character. */
function decoded(decoder: TextDecoder, piece: Uint8Array | undefined): string {
  let text: string;
  try {
    text = piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true });
  } catch {
    throw new FileFault('The file is not UTF-8. Export it again, as CSV in UTF-8.');
  }
  // PostgreSQL cannot store it, and no export has it.
  if (text.includes('\0')) throw new FileFault('The file has a NUL character, so it is not a text file.');
  return text;
}

/** The records of a CSV file, in their order. */
export async function* csvRecords(texts: AsyncIterable<string>): AsyncGenerator<CsvRecord> {
  const reader = new CsvReader();
  for await (const text of texts) yield* reader.read(text);
  yield* reader.end();
}
