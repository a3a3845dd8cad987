// Two cells whose directory PostgreSQL copies, on one server, and what is about a user in each.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { openCell } from '../../../packages/service/src/app/cells/own-cell.ts';
import { addCell } from '../../../packages/service/src/cells/topology/cells.ts';
import { publishDirectory, subscribe } from '../../../packages/service/src/cells/directory/directory.ts';
import { slotOf } from '../../../packages/service/src/kernel/values/slot.ts';
import type { AppId, EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import { checkLedger } from '../../../packages/service/src/ledger/check/check.ts';
import { beginWalletIds } from '../../../packages/service/src/ledger/wallet/queries.ts';
import type { MoveDatabases } from '../../../packages/service/src/cells/moving/move-slot.ts';
import { checkPayments } from '../../../packages/service/src/payments/check/check.ts';
import type { TestDatabase } from '../../support/database.ts';
import { startLogicalServer } from './logical-server.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { sqlValue } from '../../support/sql.ts';
import { SHARED_SECRET } from '../../support/keys.ts';
import { waitUntil } from '../../support/wait-until.ts';

interface MovingStage {
  readonly one: TestDatabase;
  readonly two: TestDatabase;
  readonly there: MoveDatabases;
  readonly back: MoveDatabases;
  readonly stop: () => Promise<void>;
}

/** All slots belong to `c1`, which has the directory. Nobody listens at the addresses of the cells. */
export async function startMovingStage(): Promise<MovingStage> {
  const server = await startLogicalServer();
  const one = await server.addDatabase('one');
  const two = await server.addDatabase('two');
  for (const name of ['c1', 'c2']) await addCell(one.owner, name, 'http://127.0.0.1:9');
  await openCell(one.owner, 'c1');
  await publishDirectory(one.owner);
  await subscribe(two.owner, {
    name: 'c2',
    databaseUrl: one.url,
    publicUrl: 'https://c1.purser.test',
    beginWalletIds,
    log: createLog('silent'),
  });
  return {
    one,
    two,
    there: { directory: one.owner, from: one.owner, to: two.owner },
    back: { directory: one.owner, from: two.owner, to: one.owner },
    stop: server.stop,
  };
}

/** A gateway in each cell, with an app that both know. */
export async function startServices(
  t: TestContext,
  { one, two }: MovingStage,
  catalogue: Parameters<typeof startTestService>[0],
): Promise<{
  readonly c1: TestService;
  readonly c2: TestService;
  readonly app: Awaited<ReturnType<TestService['addApp']>>;
}> {
  const c1 = await startTestService(catalogue, environmentOf('c1'), one);
  t.after(() => c1.close());
  const app = await c1.addApp();
  await waitUntil('the directory is copied', async () => {
    const { rowCount } = await two.owner.query('select from accounts.api_keys, db.kept_keys where app_id = $1', [
      app.appId,
    ]);
    return rowCount !== 0;
  });
  const c2 = await startTestService(undefined, environmentOf('c2'), two);
  t.after(() => c2.close());
  await addCell(one.owner, 'c1', c1.url);
  await addCell(one.owner, 'c2', c2.url);
  return { c1, c2, app };
}

function environmentOf(name: string): Record<string, string> {
  return { ...SHARED_SECRET, PURSER_CELL: name, PURSER_PUBLIC_URL: `https://${name}.purser.test` };
}

/** Users of the app who all have the same slot. */
export function usersOfOneSlot(
  appId: AppId,
  count: number,
): { readonly slot: number; readonly users: readonly EndUserId[] } {
  const bySlot = new Map<number, EndUserId[]>();
  for (let n = 0; ; n += 1) {
    const user = `user-${n}` as EndUserId;
    const slot = slotOf(appId, user);
    const users = [...(bySlot.get(slot) ?? []), user];
    if (users.length === count) return { slot, users };
    bySlot.set(slot, users);
  }
}

/** Nothing is wrong in either cell, and what one has given the other has taken. */
export async function assertBooksOfBoth({ one, two }: Pick<MovingStage, 'one' | 'two'>): Promise<void> {
  const between: bigint[] = [];
  for (const { owner } of [one, two]) {
    assert.deepEqual([...(await checkLedger(owner)).differences, ...(await checkPayments(owner))], []);
    const gone = 'select w.* from ledger.wallets w join ledger.leaving l using (wallet_id) where l.left_at is not null';
    const busy = await owner.query(`${gone} and (w.is_suspended or w.balance_micros + w.shortfall_micros > 0)`);
    assert.deepEqual(busy.rows, [], 'a wallet that has left waits for nobody here');
    const sum = await sqlValue<bigint>(owner)`
      select coalesce(sum(case when credit = 'cells' then amount_micros when debit = 'cells' then -amount_micros end), 0)::bigint as sum
      from ledger.journal where 'cells' in (debit, credit)`;
    between.push(sum ?? 0n);
  }
  assert.equal(between[0], -(between[1] ?? 0n));
}
