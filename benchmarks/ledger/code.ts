import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Pool } from '../../packages/service/src/db/pool.ts';
import type { Holds } from '../../packages/service/src/ledger/holds.ts';

interface Place {
  readonly root: string;
  readonly databaseUrl: string;
  /** For what the ledger must keep while the database is away. */
  readonly directory: string;
}

interface Code {
  readonly holds: Holds;
  /** A connection that acts as the owner of the schema. */
  readonly owner: Pool;
  readonly newCallId: typeof import('../../packages/service/src/kernel/ids.ts').newCallId;
  readonly newCorrelationId: typeof import('../../packages/service/src/kernel/ids.ts').newCorrelationId;
}

/** Opens the ledger of a checkout as its `app/compose.ts` does. The checkout may be an older one, so its code is loaded by name. */
export async function openCode({ root, databaseUrl, directory }: Place): Promise<Code> {
  const load = (file: string): Promise<unknown> =>
    import(pathToFileURL(path.join(root, 'packages/service/src', file)).href);
  const { startInstance } = (await load(
    'db/instance.ts',
  )) as typeof import('../../packages/service/src/db/instance.ts');
  const { createPool } = (await load('db/pool.ts')) as typeof import('../../packages/service/src/db/pool.ts');
  const { systemClock } = (await load(
    'kernel/clock.ts',
  )) as typeof import('../../packages/service/src/kernel/clock.ts');
  const { createLog } = (await load('kernel/log.ts')) as typeof import('../../packages/service/src/kernel/log.ts');
  const ids = (await load('kernel/ids.ts')) as typeof import('../../packages/service/src/kernel/ids.ts');
  const { createHolds } = (await load(
    'ledger/holds.ts',
  )) as typeof import('../../packages/service/src/ledger/holds.ts');
  const { BACKLOG_LIMITS } = (await load(
    'ledger/settlement/settling.ts',
  )) as typeof import('../../packages/service/src/ledger/settlement/settling.ts');
  const { createSpool } = (await load(
    'ledger/settlement/spool.ts',
  )) as typeof import('../../packages/service/src/ledger/settlement/spool.ts');
  const log = createLog('warn');
  const open = (): Pool => createPool({ url: databaseUrl, role: 'live', connectionsMax: 1, log });
  const holds = createHolds({
    pools: poolsOf(open(), open()),
    instance: await startInstance(open(), log),
    spool: createSpool({ directory: path.join(directory, 'settlements'), clock: systemClock, log }),
    backlog: BACKLOG_LIMITS,
    log,
  });
  const owner = createPool({ url: databaseUrl, role: 'owner', connectionsMax: 1, log });
  return { holds, owner, newCallId: ids.newCallId, newCorrelationId: ids.newCorrelationId };
}

/** The pools of the ledger, under the names of this checkout and of those before it took turns. */
function poolsOf(one: Pool, other: Pool) {
  return { turns: one, upkeep: other, reserve: one, settle: other };
}
