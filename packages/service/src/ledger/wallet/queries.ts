import type { Queryable } from '#db/pool.ts';
import type { AppId, EndUserId, KeyId } from '#kernel/ids.ts';
import type { Micros } from '#kernel/micros.ts';
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

const WALLET = `select wallet_id, user_id, currency, is_connected, is_suspended, balance_micros, held_micros, shortfall_micros,
    cap_micros,
    case when cap_month = db.current_month() then cap_spent_micros else 0 end as spent_this_month_micros
  from ledger.wallets`;

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

/** False where the user has a wallet already. */
export async function insertWallet(db: Queryable, wallet: NewWallet): Promise<boolean> {
  const { rows } = await db.query<{ opened: boolean }>(`select ledger.open_wallet($1, $2, $3, $4) as opened`, [
    wallet.appId,
    wallet.userId,
    wallet.currency,
    wallet.cap ?? null,
  ]);
  return rows[0]?.opened ?? false;
}

/** False where there is no wallet. */
export function updateCap(
  db: Queryable,
  wallet: { readonly appId: AppId; readonly userId: EndUserId; readonly cap: Micros | undefined },
): Promise<boolean> {
  const values = [wallet.appId, wallet.userId, wallet.cap ?? null];
  return answerOf<boolean>(db, `select ledger.set_cap($1, $2, $3) as answer`, values);
}

/** False where there is no wallet. */
export function updateConnected(
  db: Queryable,
  wallet: { readonly appId: AppId; readonly userId: EndUserId; readonly isConnected: boolean },
): Promise<boolean> {
  const values = [wallet.appId, wallet.userId, wallet.isConnected];
  return answerOf<boolean>(db, `select ledger.set_connected($1, $2, $3) as answer`, values);
}

interface KeyBudgetRow {
  readonly key_id: KeyId;
  readonly spent_micros: bigint;
  readonly held_micros: bigint;
}

export async function selectKeyBudgets(db: Queryable, lines: readonly KeyId[]): Promise<readonly KeyBudgetRow[]> {
  const { rows } = await db.query<KeyBudgetRow>(
    `select key_id, spent_micros, held_micros from ledger.key_budgets
     where key_id = any ($1) and month = db.current_month()`,
    [lines],
  );
  return rows;
}
