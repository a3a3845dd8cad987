// The ledger as random histories use it: one database, or two cells between which its wallets move.
import { micros } from '../../../packages/service/src/kernel/values/micros.ts';
import type { EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { reapHolds } from '../../../packages/service/src/ledger/recovery/queries.ts';
import { selectAppUser } from '../../../packages/service/src/ledger/overview/queries.ts';
import type { MoveStep } from '../../../packages/service/src/cells/moving/move-slot.ts';
import { APP, type LedgerDatabase } from '../../support/ledger-database.ts';
import { rewrite } from '../../support/rewrite.ts';
import { sql } from '../../support/sql.ts';

type SameAsOne = 'reserve' | 'drain' | 'settle' | 'turn' | 'credit' | 'takeBack' | 'reinstate' | 'wallet' | 'budgets';

/** Micros, and whether anything was charged at all. */
interface Spent {
  readonly micros: bigint | undefined;
  readonly isCharged: boolean;
}

export interface ChangeOfCell {
  /** The step before which the first command is killed. */
  readonly killedAt: MoveStep | undefined;
  /** Whether it is given up then, instead of being run again. */
  readonly isGivenUp: boolean;
}

export interface LedgerUnderTest extends Pick<LedgerDatabase, SameAsOne | 'addInstance' | 'open' | 'differences'> {
  readonly setCap: (user: string, cap: number | undefined) => Promise<boolean>;
  readonly setConnected: (user: string, isConnected: boolean) => Promise<boolean>;
  /** Lets a lease run out and releases the holds of its process. Gives how many. */
  readonly fence: (instance: bigint) => Promise<number>;
  /** Puts all that the user has spent and holds so far into this month of the past. */
  readonly beginMonth: (user: string, month: string) => Promise<void>;
  /** What is read of a user without a receipt, and what their receipts add up to. */
  readonly spent: (user: string) => Promise<{ readonly read: Spent; readonly added: Spent }>;
  /** Moves the user's slot to the other cell. */
  readonly changeCell: (user: string, how: ChangeOfCell) => Promise<'moved' | 'stays'>;
}

export function underTest(ledger: LedgerDatabase): LedgerUnderTest {
  const { database, live, wallets } = ledger;
  return {
    ...ledger,
    setCap: (user, cap) =>
      wallets.setCap({ ...walletOf(user), cap: cap === undefined ? undefined : micros(BigInt(cap)) }),
    setConnected: (user, isConnected) => wallets.setConnected({ ...walletOf(user), isConnected }),
    fence: async (instance) => {
      const end = 'update db.instances set lease_until = clock_timestamp() where instance_id = $1';
      await database.owner.query(end, [instance]);
      return reapHolds(live, 1_000);
    },
    beginMonth: async (user, month) => {
      const ofUser = `month > '2000-01-01' and wallet_id = (select wallet_id from ledger.wallets where user_id = $1)`;
      await database.owner.query(`update ledger.holds set month = '${month}' where ${ofUser}`, [user]);
      await rewrite(database, `update usage.calls set month = '${month}' where ${ofUser}`, [user]);
      await rewrite(database, `update ledger.spent_elsewhere set month = '${month}' where ${ofUser}`, [user]);
      await ledger.moveBudgets(user, month);
      await ledger.setWallet(user, `cap_month = case when cap_month > '2000-01-01' then '${month}' else cap_month end`);
    },
    spent: async (user) => {
      const rows = await sql<{ spent: bigint; charged: bigint }>(database)`
        select coalesce(sum(charged_micros), 0)::bigint as spent, count(*) filter (where charged_micros > 0) as charged
        from usage.calls where wallet_id = (select wallet_id from ledger.wallets where user_id = ${user})`;
      const found = await selectAppUser(live, APP, user as EndUserId);
      return {
        read: { micros: found?.spent_micros, isCharged: (found?.last_charged_at ?? null) !== null },
        added: { micros: rows[0]?.spent, isCharged: (rows[0]?.charged ?? 0n) > 0n },
      };
    },
    changeCell: () => Promise.resolve('stays'),
  };
}

function walletOf(user: string) {
  return { appId: APP, userId: user as EndUserId };
}
