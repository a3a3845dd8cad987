import { holdRequests } from '#db/hold-request.ts';
import type { Queryable } from '#db/pool.ts';
import type { HoldRequest, HoldRow } from '#kernel/hold.ts';
import type { AppId, CallId, EndUserId } from '#kernel/ids.ts';
import type { Micros } from '#kernel/micros.ts';
import { type SandboxSettlement, sandboxSettlementRecords } from '#sandbox/settlement.ts';

/** Places a hold for each request in its fake wallet, see `reserve.sql`. */
export async function reserveSandboxHolds(
  db: Queryable,
  instanceId: bigint,
  grant: Micros,
  requests: readonly HoldRequest[],
): Promise<readonly HoldRow[]> {
  const { rows } = await db.query<HoldRow>({
    name: 'sandbox_reserve',
    text: 'select call_id, outcome, granted, earlier from sandbox.reserve($1, $2, $3)',
    values: [instanceId, grant, holdRequests(requests)],
  });
  return rows;
}

interface SandboxSettledRow {
  readonly call_id: CallId;
  readonly charged: bigint;
  readonly is_joined: boolean;
}

/** Ends each call, see `settle.sql`. */
export async function settleSandboxHolds(
  db: Queryable,
  settlements: readonly SandboxSettlement[],
): Promise<readonly SandboxSettledRow[]> {
  const { rows } = await db.query<SandboxSettledRow>({
    name: 'sandbox_settle',
    text: 'select call_id, charged, is_joined from sandbox.settle($1)',
    values: [sandboxSettlementRecords(settlements)],
  });
  return rows;
}

/** Releases at most `most` holds of fenced processes. Gives how many. */
export async function reapSandboxHolds(db: Queryable, most: number): Promise<number> {
  const { rows } = await db.query<{ released: number }>(`select sandbox.reap($1) as released`, [most]);
  return rows[0]?.released ?? 0;
}

export interface SandboxWalletRow {
  readonly user_id: EndUserId;
  readonly balance_micros: bigint;
  readonly held_micros: bigint;
  readonly cap_micros: bigint | null;
  readonly is_suspended: boolean;
  readonly requests: bigint;
  readonly tokens: bigint;
}

const WALLET_COLUMNS = 'user_id, balance_micros, held_micros, cap_micros, is_suspended, requests, tokens';

/** Makes a fake wallet anew, see `reset.sql`. */
export async function resetSandboxWallet(
  db: Queryable,
  wallet: {
    readonly appId: AppId;
    readonly userId: EndUserId;
    readonly balance: Micros;
    readonly cap: Micros | undefined;
    readonly isSuspended: boolean;
  },
): Promise<SandboxWalletRow> {
  const { rows } = await db.query<SandboxWalletRow>(`select ${WALLET_COLUMNS} from sandbox.reset($1, $2, $3, $4, $5)`, [
    wallet.appId,
    wallet.userId,
    wallet.balance,
    wallet.cap ?? null,
    wallet.isSuspended,
  ]);
  const row = rows[0];
  if (row === undefined) throw new Error('The reset was not answered.');
  return row;
}

/** An app's fake wallets after a user, in their order. */
export async function selectSandboxWallets(
  db: Queryable,
  page: { readonly appId: AppId; readonly after: string; readonly most: number },
): Promise<readonly SandboxWalletRow[]> {
  const { rows } = await db.query<SandboxWalletRow>(`select ${WALLET_COLUMNS} from sandbox.list($1, $2, $3)`, [
    page.appId,
    page.after,
    page.most,
  ]);
  return rows;
}

/**
 * Removes what has expired of the next `most` fake wallets after one, in the order in which they were made. Gives the last
 * of them, undefined when there was none.
 */
export async function expireSandboxWallets(db: Queryable, after: bigint, most: number): Promise<bigint | undefined> {
  const { rows } = await db.query<{ last: bigint | null }>('select sandbox.expire($1, $2) as last', [after, most]);
  return rows[0]?.last ?? undefined;
}
