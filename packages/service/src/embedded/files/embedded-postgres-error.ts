/** An expected failure that explains itself. Its message is a plain sentence for the operator, shown without a stack. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

/** Advice that always works. It ends the messages of failures that Purser itself cannot fix. */
export const USE_DATABASE_URL = 'set DATABASE_URL to a PostgreSQL server of your own, version 15 or newer';

/** Error codes that point to the machine's disk or permissions, and not to a bug of ours. */
const CODES_OF_THE_MACHINE = new Set([
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOSPC',
  'EDQUOT',
  'ENOTDIR',
  'EEXIST',
  'EBUSY',
  'EIO',
]);

/** Turns a fault of a file or directory into a sentence for the operator. Returns any other fault unchanged. */
export function explainFileFault(fault: unknown, directory: string): unknown {
  if (fault instanceof EmbeddedPostgresError || !isErrno(fault)) return fault;
  if (!CODES_OF_THE_MACHINE.has(fault.code)) return fault;
  const message = `The database directory ${directory} cannot be used: ${fault.message}. Fix that, set PURSER_DATA_DIR to another directory, or ${USE_DATABASE_URL}.`;
  return new EmbeddedPostgresError(message, { cause: fault });
}

/** Returns true for an error of the operating system, which has a code such as `ENOENT`. */
export function isErrno(fault: unknown): fault is Error & { readonly code: string } {
  return fault instanceof Error && 'code' in fault && typeof fault.code === 'string';
}

/** The result of `read`; undefined when the file or process does not exist. */
export async function unlessMissing<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (fault) {
    // ESRCH: the process ended between the opening of its file under /proc and the reading of it.
    if (isErrno(fault) && (fault.code === 'ENOENT' || fault.code === 'ESRCH')) return undefined;
    throw fault;
  }
}
