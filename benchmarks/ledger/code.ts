import path from 'node:path';
import { createPool, type Pool } from '../../packages/service/src/db/pool/pool.ts';
import { startInstance } from '../../packages/service/src/db/processes/instance.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { systemClock } from '../../packages/service/src/kernel/time/clock.ts';
import { newCallId, newCorrelationId } from '../../packages/service/src/kernel/values/ids.ts';
import { createHolds, type Holds } from '../../packages/service/src/ledger/holds.ts';
import { BACKLOG_LIMITS } from '../../packages/service/src/ledger/settlement/settling.ts';
import { createSpool } from '../../packages/service/src/ledger/settlement/spool.ts';
import { createOwnChannel } from '../../packages/service/src/ledger/turn/turns.ts';

interface Place {
  readonly databaseUrl: string;
  /** The directory holds what the ledger must keep while the database is away. */
  readonly directory: string;
}

type HoldPools = Parameters<typeof createHolds>[0]['pools'];

interface Code {
  readonly holds: Holds;
  /** Another ledger of this process on the same books, under an instance of its own. A wallet always takes the same of its channels. */
  readonly openHolds: (channels: number) => Promise<Holds>;
  /** A connection that acts as the owner of the schema. */
  readonly owner: Pool;
  readonly newCallId: typeof newCallId;
  readonly newCorrelationId: typeof newCorrelationId;
}

/** Opens the ledger of this checkout as `app/compose.ts` does. A run in another checkout measures the ledger of this one by this function. */
export async function openCode({ databaseUrl, directory }: Place): Promise<Code> {
  const log = createLog('warn');
  const open = (): Pool => createPool({ url: databaseUrl, role: 'live', connectionsMax: 1, log });
  const spool = createSpool({ directory: path.join(directory, 'settlements'), clock: systemClock, log });
  const heartbeats = createPool({ url: databaseUrl, role: 'live', connectionsMax: 4, log });
  const openOn = async (pools: HoldPools): Promise<Holds> =>
    createHolds({ pools, instance: await startInstance(heartbeats, log), spool, backlog: BACKLOG_LIMITS, log });
  const upkeep = open();
  const holds = await openOn({ turns: open(), upkeep });
  const openHolds = async (channels: number): Promise<Holds> => {
    const others = Array.from({ length: channels - 1 }, () => createOwnChannel(open()));
    return await openOn({ turns: [createOwnChannel(open()), ...others], upkeep });
  };
  const owner = createPool({ url: databaseUrl, role: 'owner', connectionsMax: 1, log });
  return { holds, openHolds, owner, newCallId, newCorrelationId };
}
