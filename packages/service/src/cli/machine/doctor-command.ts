import path from 'node:path';
import { type Config, ConfigError } from '#app/settings/config.ts';
import { examine, type StartFacts } from '#doctor/doctor.ts';
import { judgeStart } from '#app/start/judge-start.ts';
import { checkOutside } from '#doctor/outside/outside-checks.ts';
import type { Ground } from '#cli/ground/ground.ts';
import { VERSION } from '#db/schema/functions.ts';
import { readKeptKey } from '#db/identity/kept-keys.ts';
import { createPool, type Pool } from '#db/pool/pool.ts';
import { refusalInWords } from '#db/servers/refusal-words.ts';
import { findRunningPostgres } from '#embedded/running.ts';
import { isoOf, systemClock } from '#kernel/time/clock.ts';
import { createEmailSeal, type EmailSeal } from '#kernel/values/email-seal.ts';
import { createLog, type Log } from '#kernel/log.ts';
import { randomBytes } from '#kernel/crypto/random.ts';
import { withinTime } from '#doctor/outside/within-time.ts';

const MARKS = { bad: 'BAD ', warn: 'warn', good: 'ok  ' } as const;
/** The database may answer one statement and not the next. */
const STORED_MS_MAX = 10_000;
const ORDER = ['bad', 'warn', 'good'];

interface Finding {
  readonly check: string;
  readonly level: keyof typeof MARKS;
  readonly what: string;
  readonly why: string;
  readonly remedy: string;
}

/**
 * Prints what is wrong with the settings, the machine, the database and everybody whom the service talks to, why it matters and what
 * to do. Changes nothing: an older schema is not upgraded, and no server is started. Exit status 1 if something is bad.
 */
export async function runDoctor(
  { isJson, looksOutside }: { readonly isJson: boolean; readonly looksOutside: boolean },
  ground: Ground,
): Promise<never> {
  let config: Config;
  try {
    ({ config } = await ground.settings());
  } catch (fault) {
    if (!(fault instanceof ConfigError)) throw fault;
    return leaveWith(print(fault.message.split('\n').map(unusable), isJson));
  }
  return leaveWith(print(await look(config, looksOutside), isJson));
}

/**
 * Ends the process, although a server that does not answer may still have a connection open. Output to a pipe is
 * written first.
 */
function leaveWith(status: number): Promise<never> {
  return new Promise(() => process.stdout.write('', () => process.exit(status)));
}

function unusable(fault: string): Finding {
  return {
    check: 'settings',
    level: 'bad',
    what: fault,
    why: 'The service does not start, and nothing else was looked at.',
    remedy: 'Correct the setting. docs/guides/operator/settings.md lists them all.',
  };
}

async function look(config: Config, looksOutside: boolean): Promise<readonly Finding[]> {
  const log = createLog('silent'); // What a check finds is printed. A log line in between would spoil the JSON.
  const url = config.databaseUrl ?? (await findRunningPostgres(path.join(config.dataDirectory, 'postgres')));
  const pool = url === undefined ? undefined : createPool({ url, role: 'owner', connectionsMax: 4, log });
  const database = url === undefined || pool === undefined ? undefined : { url, pool };
  const examined = withinTime(async () => {
    if (pool !== undefined) pool.emails = await sealToRead(pool, config);
    return examine(config, pool, log, await startFactsOf(config, pool, log));
  }, STORED_MS_MAX);
  const [stored, outside] = await Promise.all([examined, looksOutside ? checkOutside(config, { database, log }) : []]);
  const found = 'result' in stored ? stored.result : await examine(config, undefined, log); // It answers no more.
  void pool?.end(); // Not awaited: a server that has stopped answering would hold the command up.
  return [...found, ...outside].toSorted((a, b) => ORDER.indexOf(a.level) - ORDER.indexOf(b.level));
}

/** What a start on this database would say. */
async function startFactsOf(config: Config, pool: Pool | undefined, log: Log): Promise<StartFacts> {
  try {
    return { startFaults: await judgeStart(config, pool, log), refusal: undefined };
  } catch (fault) {
    const refusal = config.databaseUrl === undefined ? undefined : refusalInWords(fault, config.databaseUrl);
    return { startFaults: undefined, refusal };
  }
}

function print(findings: readonly Finding[], isJson: boolean): number {
  const count = (level: string) => findings.filter((one) => one.level === level).length;
  const counts = { bad: count('bad'), warn: count('warn'), good: count('good') };
  if (isJson) {
    const at = isoOf(systemClock.nowMs());
    console.log(JSON.stringify({ at, version: VERSION, counts, findings }, undefined, 2));
  } else {
    for (const { check, level, what, why, remedy } of findings) {
      console.log(`${MARKS[level]} ${check}: ${what}${level === 'good' ? '' : `\n     ${why}\n     ${remedy}`}`);
    }
    console.log(`${counts.bad} bad, ${counts.warn} to look at, ${counts.good} good`);
  }
  return counts.bad === 0 ? 0 : 1;
}

/** Without the key of the database, addresses are shown as unreadable. Why it is missing is for the findings to say. */
async function sealToRead(pool: Pool, config: Config): Promise<EmailSeal> {
  const key = await readKeptKey(pool, config, 'emails').catch(() => undefined);
  return createEmailSeal(key ?? randomBytes(32));
}
