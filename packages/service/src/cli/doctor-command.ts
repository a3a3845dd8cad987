import path from 'node:path';
import type { Config } from '#app/config.ts';
import { examine } from '#app/doctor.ts';
import { readKeptKey } from '#db/kept-keys.ts';
import { createPool, type Pool } from '#db/pool.ts';
import { findRunningPostgres } from '#embedded/running.ts';
import { createEmailSeal, type EmailSeal } from '#kernel/email-seal.ts';
import type { Log } from '#kernel/log.ts';
import { randomBytes } from '#kernel/random.ts';

const MARKS = { bad: 'BAD ', warn: 'warn', good: 'ok  ' } as const;

/**
 * Prints what is wrong with the settings, the machine and the database, why it matters and what to do. Changes nothing: an older
 * schema is not upgraded, and no server is started. Exit status 1 if something is bad.
 */
export async function printDoctor(config: Config, log: Log): Promise<number> {
  const url = config.databaseUrl ?? (await findRunningPostgres(path.join(config.dataDirectory, 'postgres')));
  const pool = url === undefined ? undefined : createPool({ url, role: 'owner', connectionsMax: 2, log });
  try {
    if (pool !== undefined) pool.emails = await sealToRead(pool, config);
    const findings = await examine(config, pool, log);
    for (const { check, level, what, why, remedy } of findings) {
      console.log(`${MARKS[level]} ${check}: ${what}${level === 'good' ? '' : `\n     ${why}\n     ${remedy}`}`);
    }
    const count = (level: string) => findings.filter((one) => one.level === level).length;
    console.log(`${count('bad')} bad, ${count('warn')} to look at, ${count('good')} good`);
    return count('bad') === 0 ? 0 : 1;
  } finally {
    await pool?.end();
  }
}

/** Without the key of the database, addresses are shown as unreadable. Why it is missing is for the findings to say. */
async function sealToRead(pool: Pool, config: Config): Promise<EmailSeal> {
  const key = await readKeptKey(pool, config, 'emails').catch(() => undefined);
  return createEmailSeal(key ?? randomBytes(32));
}
