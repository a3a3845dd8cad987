import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as instanceModule from '../../packages/service/src/db/processes/instance.ts';
import type * as poolModule from '../../packages/service/src/db/pool/pool.ts';
import type * as clockModule from '../../packages/service/src/kernel/time/clock.ts';
import type * as idsModule from '../../packages/service/src/kernel/values/ids.ts';
import type * as logModule from '../../packages/service/src/kernel/log.ts';
import type * as holdsModule from '../../packages/service/src/ledger/holds.ts';
import type * as settlingModule from '../../packages/service/src/ledger/settlement/settling.ts';
import type * as spoolModule from '../../packages/service/src/ledger/settlement/spool.ts';
import type * as channelModule from '../../packages/service/src/ledger/turn/channel.ts';
import type { Pool } from '../../packages/service/src/db/pool/pool.ts';
import type { Holds } from '../../packages/service/src/ledger/holds.ts';

interface Place {
  readonly root: string;
  readonly databaseUrl: string;
  /** The directory holds what the ledger must keep while the database is away. */
  readonly directory: string;
}

type HoldPools = Parameters<typeof holdsModule.createHolds>[0]['pools'];

interface Code {
  readonly holds: Holds;
  /** Another ledger of this process on the same books, under an instance of its own. A wallet always takes the same of its channels. */
  readonly openHolds: (channels: number) => Promise<Holds>;
  /** A connection that acts as the owner of the schema. */
  readonly owner: Pool;
  readonly newCallId: typeof idsModule.newCallId;
  readonly newCorrelationId: typeof idsModule.newCorrelationId;
}

/** Opens the ledger of a checkout as its `app/compose.ts` does. The checkout may be an older one, so its code is loaded by name. */
export async function openCode({ root, databaseUrl, directory }: Place): Promise<Code> {
  const load = (file: string): Promise<unknown> =>
    import(pathToFileURL(path.join(root, 'packages/service/src', file)).href);
  const { startInstance } = (await load('db/processes/instance.ts')) as typeof instanceModule;
  const { createPool } = (await load('db/pool/pool.ts')) as typeof poolModule;
  const { systemClock } = (await load('kernel/time/clock.ts')) as typeof clockModule;
  const { createLog } = (await load('kernel/log.ts')) as typeof logModule;
  const ids = (await load('kernel/values/ids.ts')) as typeof idsModule;
  const { createHolds } = (await load('ledger/holds.ts')) as typeof holdsModule;
  const { BACKLOG_LIMITS } = (await load('ledger/settlement/settling.ts')) as typeof settlingModule;
  const { createSpool } = (await load('ledger/settlement/spool.ts')) as typeof spoolModule;
  const log = createLog('warn');
  const open = (): Pool => createPool({ url: databaseUrl, role: 'live', connectionsMax: 1, log });
  const spool = createSpool({ directory: path.join(directory, 'settlements'), clock: systemClock, log });
  const heartbeats = createPool({ url: databaseUrl, role: 'live', connectionsMax: 4, log });
  const openOn = async (pools: HoldPools): Promise<Holds> =>
    createHolds({ pools, instance: await startInstance(heartbeats, log), spool, backlog: BACKLOG_LIMITS, log });
  const upkeep = open();
  const holds = await openOn(poolsOf(open(), upkeep));
  const openHolds = async (channels: number): Promise<Holds> => {
    // An older checkout has no channels. None is asked for them there.
    const { createOwnChannel } = (await load('ledger/turn/channel.ts')) as typeof channelModule;
    const others = Array.from({ length: channels - 1 }, () => createOwnChannel(open()));
    return await openOn({ turns: [createOwnChannel(open()), ...others], upkeep });
  };
  const owner = createPool({ url: databaseUrl, role: 'owner', connectionsMax: 1, log });
  return { holds, openHolds, owner, newCallId: ids.newCallId, newCorrelationId: ids.newCorrelationId };
}

/** The pools of the ledger, under the names of this checkout and of those before it took turns. */
function poolsOf(one: Pool, other: Pool) {
  return { turns: one, upkeep: other, reserve: one, settle: other };
}
