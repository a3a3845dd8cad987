import { CommandError } from '#cli/terminal/command-error.ts';
import { databaseInWords } from '#db/servers/hosts.ts';
import { createPool } from '#db/pool/pool.ts';
import type { Log } from '#kernel/log.ts';

/**
 * Connects to the database that a setting other than `DATABASE_URL` names, as its owner, and lets go of it. Throws `CommandError` with the name of
 * the setting and what the driver or the server says, without the password.
 */
export async function refuseUnusable(setting: string, url: string, log: Log): Promise<void> {
  const pool = createPool({ url, role: 'owner', connectionsMax: 1, log });
  try {
    (await pool.connect()).release();
  } catch (fault) {
    const why = fault instanceof Error ? fault.message : String(fault);
    const what = `${databaseInWords(url)} cannot be used (${why}).`;
    throw new CommandError(`${what} Check that it runs and that ${setting} is right.`, { cause: fault });
  } finally {
    await pool.end();
  }
}
