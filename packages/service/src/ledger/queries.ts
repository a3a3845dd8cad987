import { plainArray } from '#db/array-literal.ts';
import type { Queryable } from '#db/pool.ts';
import { assert } from '#kernel/assert.ts';
import type { AppId, CallId, EndUserId } from '#kernel/ids.ts';
import type { Micros } from '#kernel/micros.ts';

/** Says that these calls are read on for nobody, see `ledger.begin_drains` in the migrations. */
export async function beginDrains(db: Queryable, calls: readonly CallId[]): Promise<void> {
  await db.query(`select ledger.begin_drains($1)`, [plainArray(calls)]);
}

/** Those of the calls whose slot a new stream has taken. */
export async function selectDrainsTaken(db: Queryable, calls: readonly CallId[]): Promise<readonly CallId[]> {
  const { rows } = await db.query<{ call_id: CallId }>(
    `select call_id from ledger.holds where call_id = any ($1) and not is_stream`,
    [plainArray(calls)],
  );
  return rows.map((row) => row.call_id);
}

/** Fences dead processes and releases at most `most` of their holds. Gives how many were released. */
export async function reapHolds(db: Queryable, most: number): Promise<number> {
  const { rows } = await db.query<{ released: number }>(`select ledger.reap($1) as released`, [most]);
  return rows[0]?.released ?? 0;
}

/** The calls for which a process holds money, as the database has it. */
export async function selectHeldCalls(db: Queryable, instanceId: bigint): Promise<readonly CallId[]> {
  const { rows } = await db.query<{ call_id: CallId }>(`select call_id from ledger.holds where instance_id = $1`, [
    instanceId,
  ]);
  return rows.map(({ call_id: callId }) => callId);
}

interface WalletRow {
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

export async function selectWallet(db: Queryable, appId: AppId, userId: EndUserId): Promise<WalletRow | undefined> {
  const { rows } = await db.query<WalletRow>({
    name: 'ledger_wallet',
    text: `select wallet_id, user_id, currency, is_connected, is_suspended, balance_micros, held_micros, shortfall_micros,
        cap_micros,
        case when cap_month = db.current_month() then cap_spent_micros else 0 end as spent_this_month_micros
      from ledger.wallets
      where app_id = $1 and user_id = $2`,
    values: [appId, userId],
  });
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

/** Money that comes into a wallet or goes out of it, other than by calls. `key` counts once for each wallet and kind. */
export interface Movement<Kind> {
  readonly appId: AppId;
  readonly userId: EndUserId;
  readonly kind: Kind;
  /** At least 1. */
  readonly amount: Micros;
  readonly key: string;
}

export type CreditKind = 'top_up' | 'contract_credit' | 'funds_reinstated';
export type TakeBackKind = 'refund' | 'claw_back';
/** `repeated`: booked before, with this amount; `conflict`: the key stood for another amount. Neither books anything. */
export type TakeBackOutcome = 'booked' | 'repeated' | 'conflict' | 'no_wallet';
/** `too_much`: the balance would pass the largest amount there is. */
export type CreditOutcome = TakeBackOutcome | 'too_much';
export type ReinstateOutcome = 'reinstated' | 'shortfall' | 'no_wallet';

export function insertCredit(db: Queryable, credit: Movement<CreditKind>): Promise<CreditOutcome> {
  return answer<CreditOutcome>(db, `select ledger.credit($1, $2, $3, $4, $5) as answer`, valuesOf(credit));
}

export function insertTakeBack(db: Queryable, taken: Movement<TakeBackKind>): Promise<TakeBackOutcome> {
  return answer<TakeBackOutcome>(db, `select ledger.take_back($1, $2, $3, $4, $5) as answer`, valuesOf(taken));
}

/** `too_little`: less is there than that which no call holds. */
export type SetAsideOutcome = 'booked' | 'repeated' | 'conflict' | 'too_little' | 'suspended' | 'no_wallet';
/** `conflict`: it ended the other way before. `nothing`: none was set aside under the key. */
export type EndSetAsideOutcome = CreditOutcome | 'nothing';

export function insertSetAside(
  db: Queryable,
  { appId, userId, amount, key }: Omit<Movement<never>, 'kind'>,
): Promise<SetAsideOutcome> {
  const values = [appId, userId, amount, key];
  return answer<SetAsideOutcome>(db, `select ledger.set_aside($1, $2, $3, $4) as answer`, values);
}

export function insertEndOfSetAside(
  db: Queryable,
  { appId, userId, kind, key }: Omit<Movement<'refund_paid' | 'refund_released'>, 'amount'>,
): Promise<EndSetAsideOutcome> {
  const values = [appId, userId, kind, key];
  return answer<EndSetAsideOutcome>(db, `select ledger.end_set_aside($1, $2, $3, $4) as answer`, values);
}

export function reinstateWallet(
  db: Queryable,
  wallet: { readonly appId: AppId; readonly userId: EndUserId; readonly writesOff: boolean },
): Promise<ReinstateOutcome> {
  const values = [wallet.appId, wallet.userId, wallet.writesOff];
  return answer<ReinstateOutcome>(db, `select ledger.reinstate($1, $2, $3) as answer`, values);
}

/** False where there is no wallet. */
export function updateCap(
  db: Queryable,
  wallet: { readonly appId: AppId; readonly userId: EndUserId; readonly cap: Micros | undefined },
): Promise<boolean> {
  const values = [wallet.appId, wallet.userId, wallet.cap ?? null];
  return answer<boolean>(db, `select ledger.set_cap($1, $2, $3) as answer`, values);
}

/** False where there is no wallet. */
export function updateConnected(
  db: Queryable,
  wallet: { readonly appId: AppId; readonly userId: EndUserId; readonly isConnected: boolean },
): Promise<boolean> {
  const values = [wallet.appId, wallet.userId, wallet.isConnected];
  return answer<boolean>(db, `select ledger.set_connected($1, $2, $3) as answer`, values);
}

function valuesOf({ appId, userId, kind, amount, key }: Movement<string>): readonly unknown[] {
  return [appId, userId, kind, amount, key];
}

async function answer<Value>(db: Queryable, text: string, values: readonly unknown[]): Promise<Value> {
  const { rows } = await db.query<{ answer: Value }>(text, [...values]);
  const row = rows[0];
  assert(row !== undefined, 'a function answers one row');
  return row.answer;
}

interface DifferenceRow {
  /** Null in a row that carries the counts alone. */
  readonly rule: string | null;
  readonly wallet_id: bigint;
  readonly expected: bigint;
  readonly found: bigint;
}

interface CheckRow extends DifferenceRow {
  readonly wallets: bigint;
  readonly entries: bigint;
  /** Differences, also those beyond the limit. */
  readonly all: bigint | null;
}

/** The first differences of the whole ledger and the counts, in one snapshot. At least one row. */
export async function selectCheck(db: Queryable, differencesMax: number): Promise<readonly CheckRow[]> {
  const { rows } = await db.query<CheckRow>(
    `select c.wallets, c.entries, d.*
     from (
       select (select count(*) from ledger.wallets) as wallets, (select count(*) from ledger.entries) as entries
     ) c
     left join (
       select rule, wallet_id, expected, found, count(*) over () as "all"
       from ledger.differences() order by wallet_id, rule limit $1
     ) d on true
     order by d.wallet_id, d.rule`,
    [differencesMax],
  );
  return rows;
}

interface ChangesRow extends DifferenceRow {
  readonly last_wallet: bigint | null;
  readonly wallets: number;
  readonly entries: bigint;
}

/** Checks up to `most` changed wallets after one, see `ledger.check_changes` in the migrations. At least one row. */
export async function selectChanges(db: Queryable, after: bigint, most: number): Promise<readonly ChangesRow[]> {
  const { rows } = await db.query<ChangesRow>(
    `select last_wallet, wallets, entries, rule, wallet_id, expected, found from ledger.check_changes($1, $2)`,
    [after, most],
  );
  return rows;
}

/** True when it is this process's turn to check what is new. */
export async function beginCheck(db: Queryable, periodMs: number): Promise<boolean> {
  const { rows } = await db.query<{ begun: boolean }>(`select ledger.begin_check($1) as begun`, [periodMs]);
  return rows[0]?.begun ?? false;
}

export async function endCheck(db: Queryable, differences: bigint): Promise<void> {
  await db.query(`select ledger.end_check($1)`, [differences]);
}

/** What the last pass found that came to its end, whichever process made it. */
export async function selectLastCheck(
  db: Queryable,
): Promise<{ readonly ended_seconds: number; readonly differences: bigint }> {
  const { rows } = await db.query<{ ended_seconds: number; differences: bigint }>(
    `select extract(epoch from ended_at)::float8 as ended_seconds, differences from ledger.last_check`,
  );
  return rows[0] ?? { ended_seconds: 0, differences: 0n };
}
