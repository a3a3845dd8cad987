import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, EndUserId, KeyId } from '#kernel/values/ids.ts';
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

export interface AppUserRow {
  readonly user_id: EndUserId;
  readonly connected_at: Date;
  readonly cap_micros: bigint | null;
  readonly spent_this_month_micros: bigint;
  readonly is_cap_reached: boolean;
  readonly last_charged_at: Date | null;
}

const APP_USER = `user_id, coalesce(first_connected_at, created_at) as connected_at, cap_micros, month.spent as spent_this_month_micros,
  cap_micros is not null and month.spent >= cap_micros as is_cap_reached, ledger.last_charge(w.wallet_id) as last_charged_at`;

/** The month of the wallets `w`. */
const MONTH = `cross join lateral (
    select case when w.cap_month = db.current_month() then w.cap_spent_micros else 0 end as spent
  ) month`;

/** No user id has a character as high as this one (AU-04). */
const ABOVE_ALL = '\u007f';

/**
 * Lists connected wallets of an app in the order of their user ids, a range of the index that has no others: a disconnected
 * one is not even read (WA-02). Users begin with `beginsWith` and come after `after`. Charges are looked up for the wallets of
 * the page only.
 */
export async function selectAppUsers(
  db: Queryable,
  page: { readonly appId: AppId; readonly beginsWith: string; readonly after: string; readonly most: number },
): Promise<readonly AppUserRow[]> {
  const from = `${page.appId} ${page.beginsWith}`;
  const { rows } = await db.query<AppUserRow>(
    `select ${APP_USER} from (
       select * from ledger.wallets
       where app_id || ' ' || user_id >= $1 and app_id || ' ' || user_id < $2 and app_id || ' ' || user_id > $3
         and is_connected
       order by app_id || ' ' || user_id limit $4
     ) w ${MONTH}
     order by user_id`,
    [from, `${from}${ABOVE_ALL}`, `${page.appId} ${page.after}`, page.most],
  );
  return rows;
}

const BOOKED = `cross join lateral (
    select coalesce(sum(case when j.credit = 'wallet' or j.kind = 'charge_receivable' then j.amount_micros
      when j.debit = 'wallet' and j.kind <> 'charge' then -j.amount_micros end), 0)::bigint as net
    from ledger.journal j where j.wallet_id = w.wallet_id
  ) booked`;

/**
 * Finds one user with a connected wallet, by the same index. What they spent in all is what came into the wallet, less what went
 * out for other reasons and what is left: so no receipt is read, however many there are. What a wallet owes for calls counts as spent.
 */
export async function selectAppUser(
  db: Queryable,
  appId: AppId,
  userId: EndUserId,
): Promise<(AppUserRow & { readonly spent_micros: bigint }) | undefined> {
  const { rows } = await db.query<AppUserRow & { readonly spent_micros: bigint }>(
    `select ${APP_USER}, booked.net - w.balance_micros as spent_micros
     from ledger.wallets w ${MONTH} ${BOOKED}
     where w.app_id || ' ' || w.user_id = $1 and w.is_connected`,
    [`${appId} ${userId}`],
  );
  return rows[0];
}

export interface SpentRow {
  readonly user_id: EndUserId;
  /** When a call was last charged. It is null if no call was charged in this database. */
  readonly last_charged_at: Date | null;
  readonly spent_micros: bigint;
}

/** What users of an app spent in this database, also those whose wallet has left it. */
export async function selectSpent(
  db: Queryable,
  appId: AppId,
  users: readonly EndUserId[],
): Promise<readonly SpentRow[]> {
  const { rows } = await db.query<SpentRow>(
    `select w.user_id, ledger.last_charge(w.wallet_id) as last_charged_at, booked.net - w.balance_micros as spent_micros
     from ledger.wallets w ${BOOKED}
     where w.app_id = $1 and w.user_id = any ($2::text[])`,
    [appId, users],
  );
  return rows;
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

/** What counts for the budget of a line of keys. */
export interface KeyBudgetRow {
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

/** Keeps the ids of this database's wallets apart from those of other cells, see `begin_wallet_ids.sql`. False if that is too late. */
export function beginWalletIds(tx: Queryable, cellNumber: number): Promise<boolean> {
  return answerOf(tx, 'select ledger.begin_wallet_ids($1) as answer', [cellNumber]);
}

/** Whether users of these slots have wallets here. Reads all wallets. */
export function hasWalletsIn(tx: Queryable, least: number, most: number): Promise<boolean> {
  return answerOf(tx, 'select ledger.has_wallets_in($1, $2) as answer', [least, most]);
}
