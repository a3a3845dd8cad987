import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, EndUserId } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';
import { answerOf } from '#ledger/statements/function-answer.ts';

export interface WalletRow {
  readonly wallet_id: bigint;
  readonly user_id: EndUserId;
  readonly currency: string;
  readonly is_connected: boolean;
  readonly is_suspended: boolean;
  readonly balance_micros: bigint;
  readonly held_micros: bigint;
  readonly shortfall_micros: bigint;
  readonly cap_micros: bigint | null;
  readonly spent_this_month_micros: bigint;
}

export const WALLET_COLUMNS = `wallet_id, user_id, currency, is_connected, is_suspended, balance_micros, held_micros, shortfall_micros,
    cap_micros,
    case when cap_month = db.current_month() then cap_spent_micros else 0 end as spent_this_month_micros`;
const WALLET = `select ${WALLET_COLUMNS} from ledger.wallets`;

export async function selectWallet(db: Queryable, appId: AppId, userId: EndUserId): Promise<WalletRow | undefined> {
  const text = `${WALLET} where app_id = $1 and user_id = $2`;
  const { rows } = await db.query<WalletRow>({ name: 'ledger_wallet', text, values: [appId, userId] });
  return rows[0];
}

/** The same for a connected wallet. A disconnected one is not even read, so it takes no longer than a missing one (WA-02). */
export async function selectConnectedWallet(
  db: Queryable,
  appId: AppId,
  userId: EndUserId,
): Promise<WalletRow | undefined> {
  const text = `${WALLET} where app_id || ' ' || user_id = $1 and is_connected`;
  const { rows } = await db.query<WalletRow>({ name: 'ledger_connected_wallet', text, values: [`${appId} ${userId}`] });
  return rows[0];
}

export interface NewWallet {
  readonly appId: AppId;
  readonly userId: EndUserId;
  readonly currency: string;
  readonly cap: Micros | undefined;
}

/** Returns false where the user has a wallet already. */
export async function insertWallet(db: Queryable, wallet: NewWallet): Promise<boolean> {
  const { rows } = await db.query<{ opened: boolean }>(`select ledger.open_wallet($1, $2, $3, $4) as opened`, [
    wallet.appId,
    wallet.userId,
    wallet.currency,
    wallet.cap ?? null,
  ]);
  return rows[0]?.opened ?? false;
}

/** Returns false where there is no wallet. */
export function updateCap(
  db: Queryable,
  wallet: { readonly appId: AppId; readonly userId: EndUserId; readonly cap: Micros | undefined },
): Promise<boolean> {
  const values = [wallet.appId, wallet.userId, wallet.cap ?? null];
  return answerOf<boolean>(db, `select ledger.set_cap($1, $2, $3) as answer`, values);
}

/** Removes what names the sessions of a wallet, see `forget_sessions.sql`. */
export async function forgetSessions(db: Queryable, appId: AppId, userId: EndUserId): Promise<void> {
  await db.query('select ledger.forget_sessions($1, $2)', [appId, userId]);
}

/** Notes that the owner of a wallet is deleted, see `forget_owner.sql`. Nothing happens where there is no wallet. */
export async function forgetOwner(db: Queryable, appId: AppId, userId: EndUserId): Promise<void> {
  await db.query('select ledger.forget_owner($1, $2)', [appId, userId]);
}

/** Locks a wallet until the transaction ends. False where there is none. */
export function lockWallet(db: Queryable, appId: AppId, userId: EndUserId): Promise<boolean> {
  return answerOf<boolean>(db, `select ledger.lock_for_act($1, $2) as answer`, [appId, userId]);
}

/** Returns false where there is no wallet. */
export function updateConnected(
  db: Queryable,
  wallet: { readonly appId: AppId; readonly userId: EndUserId; readonly isConnected: boolean },
): Promise<boolean> {
  const values = [wallet.appId, wallet.userId, wallet.isConnected];
  return answerOf<boolean>(db, `select ledger.set_connected($1, $2, $3) as answer`, values);
}

/** Keeps the ids of this database's wallets apart from those of other cells, see `begin_wallet_ids.sql`. False if that is too late. */
export function beginWalletIds(tx: Queryable, cellNumber: number): Promise<boolean> {
  return answerOf(tx, 'select ledger.begin_wallet_ids($1) as answer', [cellNumber]);
}

/** Whether users of these slots have wallets here. Reads all wallets. */
export function hasWalletsIn(tx: Queryable, least: number, most: number): Promise<boolean> {
  return answerOf(tx, 'select ledger.has_wallets_in($1, $2) as answer', [least, most]);
}
