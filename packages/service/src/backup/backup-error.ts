import { isErrno } from '#embedded/files/embedded-postgres-error.ts';

/** A backup that cannot be made or used. The message says why and what to do, and is shown without a stack. */
export class BackupError extends Error {}

/** Disks that are full or gone, and files that may not be touched. */
const CODES_OF_THE_MACHINE = new Set([
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOSPC',
  'EDQUOT',
  'ENOENT',
  'ENOTDIR',
  'EIO',
  'EFBIG',
]);

/** Turns a fault of a file into a sentence for the operator. Returns any other fault unchanged. */
export function explained(fault: unknown, doing: string): unknown {
  if (!isErrno(fault)) return fault;
  return CODES_OF_THE_MACHINE.has(fault.code)
    ? new BackupError(`${doing}: ${fault.message}.`, { cause: fault })
    : fault;
}
