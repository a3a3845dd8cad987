import { plainArray, textArray } from '#db/array-literal.ts';
import type { Queryable } from '#db/pool.ts';
import type { HoldOutcome, HoldRequest } from '#kernel/hold.ts';
import type { AppId, CallId, EndUserId } from '#kernel/ids.ts';
import type { Micros } from '#kernel/micros.ts';
import type { Settlement } from '#ledger/settlement.ts';

interface ReservedRow {
  readonly call_id: CallId;
  /** `call_ended`: a repeat that came after its call had been settled. */
  readonly outcome: HoldOutcome | 'call_ended';
  readonly granted: bigint;
}

/** Places a hold for each request, see `ledger.reserve` in the migrations. Rows come in any order. */
export async function reserveHolds(
  db: Queryable,
  instanceId: bigint,
  requests: readonly HoldRequest[],
): Promise<readonly ReservedRow[]> {
  const { rows } = await db.query<ReservedRow>({
    name: 'ledger_reserve',
    text: `select call_id, outcome, granted from ledger.reserve($1, $2, $3, $4, $5, $6, $7)`,
    values: [
      instanceId,
      plainArray(requests.map(({ callId }) => callId)),
      textArray(requests.map(({ appId }) => appId)),
      textArray(requests.map(({ userId }) => userId)),
      plainArray(requests.map(({ least }) => least)),
      plainArray(requests.map(({ most }) => most)),
      plainArray(requests.map(({ streamsMax }) => streamsMax)),
    ],
  });
  return rows;
}

interface SettledRow {
  readonly call_id: CallId;
  readonly is_settled: boolean;
  readonly charged: bigint;
}

/** Ends each call, see `ledger.settle` in the migrations. Rows come in any order. */
export async function settleHolds(db: Queryable, settlements: readonly Settlement[]): Promise<readonly SettledRow[]> {
  const { rows } = await db.query<SettledRow>({
    name: 'ledger_settle',
    text: `select call_id, is_settled, charged
      from ledger.settle($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    values: [
      plainArray(settlements.map(({ callId }) => callId)),
      plainArray(settlements.map(({ charge }) => charge)),
      textArray(settlements.map(({ model }) => model)),
      plainArray(settlements.map(({ priceId }) => priceId)),
      textArray(settlements.map(({ outcome }) => outcome)),
      plainArray(settlements.map(({ isEstimated }) => isEstimated)),
      plainArray(settlements.map(({ usage }) => usage.promptTokens)),
      plainArray(settlements.map(({ usage }) => usage.cachedTokens)),
      plainArray(settlements.map(({ usage }) => usage.completionTokens)),
      plainArray(settlements.map(({ usage }) => usage.reasoningTokens)),
      textArray(settlements.map(({ correlationId }) => correlationId)),
    ],
  });
  return rows;
}

/** Fences dead processes and releases at most `most` of their holds. Gives how many were released. */
export async function reapHolds(db: Queryable, most: number): Promise<number> {
  const { rows } = await db.query<{ released: number }>(`select ledger.reap($1) as released`, [most]);
  return rows[0]?.released ?? 0;
}

interface WalletRow {
  readonly wallet_id: bigint;
  readonly user_id: EndUserId;
  readonly currency: string;
  readonly is_connected: boolean;
  readonly is_suspended: boolean;
  readonly balance_micros: bigint;
  readonly held_micros: bigint;
  readonly cap_micros: bigint | null;
  readonly spent_this_month_micros: bigint;
}

export async function selectWallet(db: Queryable, appId: AppId, userId: EndUserId): Promise<WalletRow | undefined> {
  const { rows } = await db.query<WalletRow>({
    name: 'ledger_wallet',
    text: `select wallet_id, user_id, currency, is_connected, is_suspended, balance_micros, held_micros, cap_micros,
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

export type CreditOutcome = 'booked' | 'repeated' | 'conflict' | 'no_wallet';

export async function insertContractCredit(
  db: Queryable,
  credit: { readonly appId: AppId; readonly userId: EndUserId; readonly amount: Micros; readonly key: string },
): Promise<CreditOutcome> {
  const { rows } = await db.query<{ outcome: CreditOutcome }>(
    `select ledger.credit_contract($1, $2, $3, $4) as outcome`,
    [credit.appId, credit.userId, credit.amount, credit.key],
  );
  const row = rows[0];
  if (row === undefined) throw new Error('The credit was not answered.');
  return row.outcome;
}

interface DifferenceRow {
  readonly rule: string;
  readonly wallet_id: bigint;
  readonly expected: bigint;
  readonly found: bigint;
}

export async function selectDifferences(db: Queryable): Promise<readonly DifferenceRow[]> {
  const { rows } = await db.query<DifferenceRow>(
    `select rule, wallet_id, expected, found from ledger.differences() order by wallet_id, rule`,
  );
  return rows;
}

export async function countBooks(db: Queryable): Promise<{ readonly wallets: bigint; readonly entries: bigint }> {
  const { rows } = await db.query<{ wallets: bigint; entries: bigint }>(
    `select (select count(*) from ledger.wallets) as wallets, (select count(*) from ledger.entries) as entries`,
  );
  return rows[0] ?? { wallets: 0n, entries: 0n };
}
