import type { ServerRow } from '#db/health/queries.ts';
import type { CheckResult } from '#doctor/findings/check-result.ts';

/** A working server keeps a finished part of its log within seconds, and tries again after a minute. */
const WAIT_SECONDS_WARN = 15;
const WAIT_SECONDS_BAD = 300;
const REMEDY = 'Look into the log of the server, at its archive_command, and at the disk of the archive.';

/**
 * What is wrong with the archive of the log. Undefined if nothing, or there is none. The counters of the server do not tell: it counts no
 * failure of an archive command that it does not find, may not run, or that is killed.
 */
export function judgeArchive(row: ServerRow): CheckResult | undefined {
  const { waiting_parts: parts, waiting_seconds: seconds } = row;
  if (!row.archives) return undefined;
  if (row.archive_fails) {
    const what = 'The server cannot keep its log in the archive, and its own disk fills up.';
    return { level: 'bad', what, remedy: REMEDY };
  }
  if (parts === null || seconds === null) {
    if (row.archived_seconds <= WAIT_SECONDS_BAD) return undefined;
    return {
      level: 'warn',
      what: `No part of the log was kept for ${minutesOf(row.archived_seconds)}, and it cannot be seen whether any waits.`,
      remedy: 'Run `grant pg_monitor to` the user of DATABASE_URL as a superuser.',
    };
  }
  if (seconds <= WAIT_SECONDS_WARN) return undefined;
  const isBad = seconds > WAIT_SECONDS_BAD;
  const waits = `${parts} finished parts of the log wait to be kept in the archive, the oldest for ${minutesOf(seconds)}`;
  return {
    level: isBad ? 'bad' : 'warn',
    what: `${waits}${isBad ? ', and the disk of the server fills up.' : '.'}`,
    remedy: REMEDY,
  };
}

const minutesOf = (seconds: number): string =>
  seconds < 120 ? `${Math.round(seconds)} seconds` : `${Math.round(seconds / 60)} minutes`;
