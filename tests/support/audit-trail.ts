import { after } from 'node:test';
import { insertAuditEntry } from '../../packages/service/src/audit/queries.ts';
import { sealEntries } from '../../packages/service/src/audit/sealer.ts';
import { createPool, type Pool, type Queryable } from '../../packages/service/src/db/pool/pool.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { createTestDatabase } from './database.ts';
import { sqlValue } from './sql.ts';
import { waitUntil } from './wait-until.ts';

/** The key of the heads of test trails. */
export const HEAD_KEY = Buffer.alloc(32, 1);

/** An empty audit trail in a database of its own, and the connections of two gateways. */
export async function newTrail() {
  const database = await createTestDatabase();
  const log = createLog('silent');
  const open = () =>
    createPool({ url: database.url, role: 'live', connectionsMax: 8, log, emails: database.owner.emails });
  const pools = [open(), open()] as const;
  after(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    await database.close();
  });
  return { owner: database.owner, pools };
}

/** An act by an account, with everything that an entry can have. */
export function addAct(db: Queryable, subject: string): Promise<void> {
  const act = { actor: 'acc_1', actorName: 'a@example.test', action: 'app.edit', subject, reason: 'why' };
  return insertAuditEntry(db, {
    ...act,
    before: { name: 'a' },
    after: { name: 'b', most: 2 ** 53 - 1 },
    from: '192.0.2.1',
  });
}

/** Seals everything. Entries count as settled once all transactions that ran beside them have ended, also those of other databases of the server. */
export async function sealAll(pool: Pool): Promise<void> {
  await waitUntil('all entries are settled', async () => {
    await sealEntries(pool, HEAD_KEY, 0);
    const isSettled = await sqlValue<boolean>(pool)`select settled_entry >= (select coalesce(max(entry_id), 0)
      from audit.entries) as is_settled from audit.head`;
    return isSettled === true;
  });
}
