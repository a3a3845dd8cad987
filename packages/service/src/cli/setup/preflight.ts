import { existsSync, readFileSync } from 'node:fs';
import type { Durability } from '#app/settings/database.ts';
import { lackOf } from '#app/start/unfit-database.ts';
import { selectDurability } from '#db/health/queries.ts';
import { judgeMigration, MigrationError } from '#db/schema/migrate.ts';
import { createPool } from '#db/pool/pool.ts';
import { refusalInWords } from '#db/servers/refusal-words.ts';
import { createLog } from '#kernel/log.ts';

export interface Look {
  /** What the server promises of a commit. `disk` if nobody could ask it. */
  readonly durability: Durability;
  /** What has to be put right before a start. */
  readonly faults: readonly string[];
}

/** Asks a database server what it promises, and whether a start could use it. Changes nothing. */
export async function lookAtDatabase(url: string): Promise<Look> {
  const owner = createPool({ url, role: 'owner', connectionsMax: 1, log: createLog('silent') });
  try {
    const row = await selectDurability(owner);
    const durability = lackOf('standby', row) === undefined ? 'standby' : 'disk';
    const lacking = lackOf(durability, row);
    const faults = lacking === undefined ? [] : [lacking];
    await judgeMigration(owner).catch((fault: unknown) => {
      if (!(fault instanceof MigrationError)) throw fault;
      faults.push(fault.message);
    });
    return { durability, faults };
  } catch (fault) {
    const why = refusalInWords(fault, url) ?? 'The database server of DATABASE_URL does not answer. Start it.';
    return { durability: 'disk', faults: [why] };
  } finally {
    await owner.end();
  }
}

const PROGRAMS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** What the files expect of this machine and it lacks. */
export function lookAtMachine(proxy: string): readonly string[] {
  const people = existsSync('/etc/passwd') ? readFileSync('/etc/passwd', 'utf8') : '';
  return [
    ...(existsSync('/usr/local/bin/purser')
      ? []
      : ['Link the program to /usr/local/bin/purser, where the unit starts it.']),
    ...(isThere('curl') ? [] : ['Install curl, with which the unit waits until calls can be taken.']),
    ...(isThere(proxy) ? [] : [`Install ${proxy}.`]),
    ...(/^purser:/m.test(people) ? [] : ['Make the user `purser`, as whom the unit runs.']),
  ];
}

function isThere(name: string): boolean {
  return PROGRAMS.some((folder) => existsSync(`${folder}/${name}`));
}
