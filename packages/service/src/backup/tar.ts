import { createHash } from 'node:crypto';
import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import { BackupError } from '#backup/backup-error.ts';

const BLOCK = 512;
const FILE_TYPES = new Set(['0', '\0']);
const DIRECTORY_TYPE = '5';

/** A file that was unpacked. */
interface Unpacked {
  readonly size: number;
  /** The SHA-256 digest in hexadecimal. */
  readonly digest: string;
}

/** Unpacks a tar of plain files and directories into an empty folder. Anything else in it, or a path that leaves the folder, is refused. */
export async function unpackTar(source: AsyncIterable<Buffer>, folder: string): Promise<ReadonlyMap<string, Unpacked>> {
  const unpacked = new Map<string, Unpacked>();
  const reader = readerOf(source);
  for (;;) {
    const header = await reader.take(BLOCK);
    if (header === undefined) throw new BackupError('The archive ends too early.');
    if (header.every((byte) => byte === 0)) return unpacked; // The end is two empty blocks.
    const { name, size, type } = readHeader(header);
    const target = path.join(folder, name);
    if (type === DIRECTORY_TYPE) {
      await mkdir(target, { recursive: true, mode: 0o700 });
    } else if (FILE_TYPES.has(type)) {
      await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
      unpacked.set(name, await writeFrom(reader, target, size));
      await reader.skip((BLOCK - (size % BLOCK)) % BLOCK);
    } else {
      throw new BackupError(`The archive has something that is neither a file nor a directory: ${name}.`);
    }
  }
}

function readHeader(header: Buffer): { readonly name: string; readonly size: number; readonly type: string } {
  const text = (from: number, length: number) => {
    const part = header.toString('utf8', from, from + length);
    const end = part.indexOf('\0');
    return end === -1 ? part : part.slice(0, end);
  };
  const prefix = text(345, 155);
  const raw = prefix === '' ? text(0, 100) : `${prefix}/${text(0, 100)}`;
  const name = path.posix.normalize(raw).replace(/\/$/, '');
  const size = Number.parseInt(text(124, 12).trim() || '0', 8);
  if (path.posix.isAbsolute(name) || name.split('/').includes('..') || !Number.isSafeInteger(size) || size < 0) {
    throw new BackupError('The archive has an entry that cannot be unpacked.');
  }
  return { name, size, type: String.fromCodePoint(header[156] ?? 0) };
}

interface Reader {
  /** Gives exactly so many bytes, or undefined if there are fewer. */
  readonly take: (bytes: number) => Promise<Buffer | undefined>;
  /** Gives at least one byte and at most so many, or undefined at the end. */
  readonly some: (most: number) => Promise<Buffer | undefined>;
  readonly skip: (bytes: number) => Promise<void>;
}

function readerOf(source: AsyncIterable<Buffer>): Reader {
  const chunks = source[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  async function some(most: number): Promise<Buffer | undefined> {
    while (rest.length === 0) {
      const next = await chunks.next();
      if (next.done === true) return undefined;
      rest = next.value;
    }
    const part = rest.subarray(0, most);
    rest = rest.subarray(part.length);
    return part;
  }
  async function take(bytes: number): Promise<Buffer | undefined> {
    const parts: Buffer[] = [];
    for (let left = bytes; left > 0; ) {
      const part = await some(left);
      if (part === undefined) return undefined;
      parts.push(part);
      left -= part.length;
    }
    return Buffer.concat(parts);
  }
  return {
    some,
    take,
    skip: async (bytes) => {
      await take(bytes);
    },
  };
}

async function writeFrom(reader: Reader, target: string, size: number): Promise<Unpacked> {
  const digest = createHash('sha256');
  const file = await open(target, 'wx', 0o600);
  try {
    for (let left = size; left > 0; ) {
      const part = await reader.some(left);
      if (part === undefined) throw new BackupError('The archive ends too early.');
      digest.update(part);
      await file.writeFile(part);
      left -= part.length;
    }
  } finally {
    await file.close();
  }
  return { size, digest: digest.digest('hex') };
}
