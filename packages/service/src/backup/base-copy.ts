import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { PassThrough, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import pg from 'pg';
import { BackupError } from '#backup/backup-error.ts';
import { forceToDisk } from '#backup/settlements.ts';

/** Where a base backup begins in the log, and what it weighs. */
interface BaseCopy {
  readonly startLsn: string;
  readonly timeline: number;
  readonly endLsn: string;
  readonly bytes: number;
  /** The digest of the manifest, in hexadecimal. */
  readonly manifestDigest: string;
}

const CONNECT_TIMEOUT_MS = 10_000;
const COPY = `BASE_BACKUP (LABEL 'purser', CHECKPOINT 'fast', WAL true, WAIT false, MANIFEST 'yes', MANIFEST_CHECKSUMS 'SHA256')`;
/** The first byte of each message says what it is (PostgreSQL, "Streaming Replication Protocol"). */
const [NEW_ARCHIVE, MANIFEST, DATA] = [...Buffer.from('nmd')];

/**
 * Copies the whole server, while it works, as it is at the end of the copy: the protocol of pg_basebackup. `archive` becomes a tar of
 * the data directory, with the log that belongs to it; `manifest` the server's list of all files with their SHA-256.
 */
export async function copyBase(url: string, archive: string, manifest: string): Promise<BaseCopy> {
  const config = { connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, replication: 'true' };
  const client = new pg.Client(config);
  const { promise: lost, reject } = Promise.withResolvers<never>();
  client.on('error', reject);
  lost.catch(() => undefined);
  await client.connect();
  try {
    return await Promise.race([copyOver(client, archive, manifest), lost]);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function copyOver(client: pg.Client, archive: string, manifest: string): Promise<BaseCopy> {
  const files = { archive: new PassThrough(), manifest: new PassThrough() };
  const digest = createHash('sha256');
  let bytes = 0;
  let into: Writable | undefined;
  let isFull = false;
  const written = Promise.all([
    pipeline(files.archive, createGzip({ level: 1 }), createWriteStream(archive, { flags: 'wx', mode: 0o600 })),
    pipeline(files.manifest, createWriteStream(manifest, { flags: 'wx', mode: 0o600 })),
  ]);
  const results = runCopy(client, (message, socket) => {
    const [kind] = message;
    if (kind === NEW_ARCHIVE) {
      if (into !== undefined)
        throw new BackupError('The database has tablespaces, which this backup does not know. Use pg_basebackup.');
      into = files.archive;
    } else if (kind === MANIFEST) {
      into = files.manifest;
    } else if (kind === DATA) {
      const data = Buffer.from(message.subarray(1)); // A copy, because the driver uses its buffer again.
      bytes += data.length;
      if (into === files.manifest) digest.update(data);
      if (into?.write(data) === false && !isFull) {
        isFull = true; // More messages may come out of what has already arrived.
        socket.pause();
        into.once('drain', () => {
          isFull = false;
          socket.resume();
        });
      }
    }
  });
  const stop = (fault: unknown) => {
    const cause = fault instanceof Error ? fault : new Error(String(fault));
    for (const file of Object.values(files)) file.destroy(cause);
    return Promise.reject(cause);
  };
  const ended = results.then((rows) => {
    for (const file of Object.values(files)) file.end();
    return rows;
  }, stop);
  const [rows] = await Promise.all([ended, written]);
  for (const file of [archive, manifest]) await forceToDisk(file);
  const [start] = rows;
  const end = rows.at(-1);
  if (start === undefined || end === undefined)
    throw new BackupError('The server did not say where the backup begins and ends.');
  return {
    startLsn: start.recptr,
    timeline: Number(start.tli),
    endLsn: end.recptr,
    bytes,
    manifestDigest: digest.digest('hex'),
  };
}

interface PositionRow {
  readonly recptr: string;
  readonly tli: string;
}

/** What the driver gives to a query of its own while data is copied. It only logs such data by itself. */
interface CopyQuery {
  handleCopyData: (message: { readonly chunk: Buffer }, connection: { readonly stream: Socket }) => void;
}
interface Socket {
  readonly pause: () => void;
  readonly resume: () => void;
  readonly destroy: (fault: Error) => void;
}

/** Runs the copy. Resolves with the first rows and the last: where it begins and where it ends. */
function runCopy(client: pg.Client, take: (message: Buffer, socket: Socket) => void): Promise<readonly PositionRow[]> {
  return new Promise((resolve, reject) => {
    const query = new pg.Query<PositionRow>(COPY);
    const rows: PositionRow[] = [];
    query.on('row', (row) => void (row !== undefined && 'recptr' in row && rows.push(row)));
    query.on('error', reject);
    query.on('end', () => resolve(rows));
    (query as unknown as CopyQuery).handleCopyData = ({ chunk }, { stream }) => {
      try {
        take(chunk, stream);
      } catch (fault) {
        reject(fault);
        stream.destroy(fault instanceof Error ? fault : new Error(String(fault)));
      }
    };
    client.query(query);
  });
}
