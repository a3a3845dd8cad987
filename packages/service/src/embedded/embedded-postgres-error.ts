/** An expected, explained failure. Its message is a plain sentence for the operator, to be shown without a stack. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

/** The way out that always exists; ends the messages of failures that nothing inside Purser can mend. */
export const USE_DATABASE_URL = 'set DATABASE_URL to a PostgreSQL server of your own, version 15 or newer';

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

/** `fault` as a sentence for the operator where a file or directory is to blame; anything else comes back as it is. */
export function explainFileFault(fault: unknown, directory: string): unknown {
  if (fault instanceof EmbeddedPostgresError || !isErrno(fault)) return fault;
  if (!CODES_OF_THE_MACHINE.has(fault.code)) return fault;
  const message = `The database directory ${directory} cannot be used: ${fault.message}. Mend that, set PURSER_DATA_DIR to another directory, or ${USE_DATABASE_URL}.`;
  return new EmbeddedPostgresError(message, { cause: fault });
}

/** True for an error of the operating system, which carries a code such as `ENOENT`. */
export function isErrno(fault: unknown): fault is Error & { readonly code: string } {
  return fault instanceof Error && 'code' in fault && typeof fault.code === 'string';
}

/** What `read` answers, or undefined when the file or process it asks for does not exist. */
export async function unlessMissing<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (fault) {
    // ESRCH: a process that ended between opening its file under /proc and reading it.
    if (isErrno(fault) && (fault.code === 'ENOENT' || fault.code === 'ESRCH')) return undefined;
    throw fault;
  }
}
