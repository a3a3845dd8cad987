import type { Config } from '#app/settings/config.ts';
import type { Durability } from '#app/settings/database.ts';
import { SetupError, StartError } from '#app/environment/start-error.ts';
import { UnfitConnectionError } from '#db/pool/connection-check.ts';
import { selectDurability } from '#db/health/queries.ts';
import { createPool, type Pool, sqlStateOf } from '#db/pool/pool.ts';
import { namesAny } from '#db/health/standbys.ts';
import type { Log } from '#kernel/log.ts';

const ROLES = ['live', 'sandbox'] as const;
const WEAKER: Readonly<Record<Durability, string>> = {
  standby: ' If one server is enough for you, set PURSER_DATABASE_DURABILITY=disk.',
  disk: ' A server whose data nobody needs may be used with PURSER_DATABASE_DURABILITY=none.',
  none: '',
};

/**
 * Refuses a server on which calls would run as the owner or without limits, or whose commits are less safe than
 * PURSER_DATABASE_DURABILITY asks for. Opens a connection of each kind as calls do; before the first start there is only the owner's.
 * The embedded server is ours and needs no look.
 */
export async function refuseUnfit(
  { databaseUrl, durability }: Pick<Config, 'databaseUrl' | 'durability'>,
  log: Log,
  before?: { readonly owner: Pool; readonly hasSchema: boolean },
): Promise<void> {
  if (databaseUrl === undefined) return;
  if (before?.hasSchema === false) return refuseLacking(before.owner, durability);
  for (const role of ROLES) {
    const pool = createPool({ url: databaseUrl, role, connectionsMax: 1, log, name: 'start' });
    try {
      await refuseLacking(pool, durability);
    } catch (fault) {
      throw explained(fault, role);
    } finally {
      await pool.end();
    }
  }
}

async function refuseLacking(pool: Pool, durability: Durability): Promise<void> {
  const row = await selectDurability(pool);
  const lacking = lackOf(durability, row);
  if (lacking === undefined) return;
  // A cluster manager takes the names away while there is no standby, and gives them back: a later start may succeed.
  const mayPass = lackOf(durability, { ...row, standby_names: 'named' }) === undefined;
  throw new (mayPass ? StartError : SetupError)(`${lacking}${WEAKER[durability]}`);
}

/** What is missing, or undefined. */
export function lackOf(durability: Durability, row: Awaited<ReturnType<typeof selectDurability>>): string | undefined {
  const { fsync, full_page_writes: pages, synchronous_commit: commit, standby_names: names } = row;
  if (durability === 'none') return undefined;
  if (!fsync || !pages) {
    const off = fsync ? 'full_page_writes' : 'fsync';
    return `The database server runs with ${off}=off: a crash of its machine loses charges. Set it to on.`;
  }
  if (commit === 'off') {
    return 'The database server answers before a commit is on its disk: synchronous_commit is off for the roles of calls. Set it to on.';
  }
  if (durability === 'disk') return undefined;
  if (names === '') {
    return (
      'Commits wait for no standby: synchronous_standby_names of the database server is empty, and a failover would lose charges that ' +
      'callers were told. Set it, for example to `ANY 1 (a, b)`.'
    );
  }
  if (namesAny(names)) {
    return (
      'Commits may wait for no standby: synchronous_standby_names of the database server has `*`, and a subscription to any table, such ' +
      'as the copy of a directory, confirms them too. Name the standbys, for example `ANY 1 (a, b)`.'
    );
  }
  if (commit !== 'local') return undefined;
  return 'Commits wait for no standby: synchronous_commit is local for the roles of calls. Set it to on.';
}

function explained(fault: unknown, role: string): unknown {
  if (fault instanceof UnfitConnectionError) return new SetupError(fault.message, { cause: fault });
  const isRefused = ['22023', '42501'].includes(sqlStateOf(fault) ?? '');
  if (!isRefused) return fault;
  const how = 'Run `grant purser_live, purser_sandbox to` that user as an administrator of the server.';
  return new SetupError(`The user of DATABASE_URL may not act as purser_${role}. ${how}`, { cause: fault });
}
