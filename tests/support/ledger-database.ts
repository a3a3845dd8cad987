import { insertInstance } from '../../packages/service/src/db/processes/queries.ts';
import { createPool, type Pool } from '../../packages/service/src/db/pool/pool.ts';
import type { HoldRequest } from '../../packages/service/src/kernel/calls/hold.ts';
import {
  type AppId,
  type CallId,
  type EndUserId,
  type KeyId,
  newCallId,
} from '../../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { checkLedger, type Difference } from '../../packages/service/src/ledger/check/check.ts';
import { type ReservedRow, reserveHolds } from '../../packages/service/src/ledger/hold/queries.ts';
import { type SettledRow, settleHolds } from '../../packages/service/src/ledger/settlement/queries.ts';
import type { Settlement } from '../../packages/service/src/ledger/settlement/settlement.ts';
import { beginDrains } from '../../packages/service/src/ledger/hold/drain-queries.ts';
import {
  type CreditKind,
  insertCredit,
  insertTakeBack,
  reinstateWallet,
  type TakeBackKind,
} from '../../packages/service/src/ledger/funding/queries.ts';
import { budgetUseOf } from '../../packages/service/src/ledger/budgets/key-budgets.ts';
import { insertWallet } from '../../packages/service/src/ledger/wallet/queries.ts';
import { selectKeyBudgets } from '../../packages/service/src/ledger/budgets/queries.ts';
import { takeTurn, type Turn } from '../../packages/service/src/ledger/turn/queries.ts';
import { createWallets, type Wallets } from '../../packages/service/src/ledger/wallet/wallet.ts';
import { CONNECT_MS_MAX, createTestDatabase, type TestDatabase } from './database.ts';
import { waitLongForLocks } from './lock-wait.ts';
import { EMAIL_SEAL } from './keys.ts';
import { sqlRow } from './sql.ts';
import { endHolds, placeHolds } from './turns.ts';

/** The one app of these tests. */
export const APP = 'app_ledger' as AppId;
const LEASE_MS = 3_600_000;

interface WalletState {
  readonly balance: number;
  readonly held: number;
  readonly openStreams: number;
  readonly capMonth: string;
  readonly capSpent: number;
  readonly capHeld: number;
  readonly isSuspended: boolean;
  readonly isClawed: boolean;
  readonly shortfall: number;
  readonly entries: number;
}

interface BudgetState {
  readonly spent: number;
  readonly held: number;
}

/** The ledger's functions on a separate database, called as the gateway calls them. */
export interface LedgerDatabase {
  readonly database: TestDatabase;
  /** Acts as the gateway. */
  readonly live: Pool;
  /** The first instance, with a lease of an hour. */
  readonly instance: bigint;
  readonly addInstance: () => Promise<bigint>;
  /** Opens a wallet with this balance. */
  readonly open: (user: string, balance: number, cap?: number) => Promise<void>;
  /** The answers in the order of the requests: the outcome, or the granted amount. */
  readonly reserve: (requests: readonly HoldRequest[], instance?: bigint) => Promise<readonly (string | number)[]>;
  /** Marks these streams as drains: their callers have left. */
  readonly drain: (calls: readonly { readonly callId: CallId }[]) => Promise<void>;
  /** Settles calls and returns, for each, whether it was settled now and what it was charged. */
  readonly settle: (settlements: readonly Settlement[]) => Promise<readonly SettleAnswer[]>;
  /** Settles, then places: in one turn, if that is the way. */
  readonly turn: (
    settlements: readonly Settlement[],
    requests: readonly HoldRequest[],
    instance?: bigint,
  ) => Promise<{ readonly settled: readonly SettleAnswer[]; readonly placed: readonly (string | number)[] }>;
  /** Credits, take-backs and the end of a suspension. Each returns the ledger's answer. */
  readonly credit: (user: string, amount: number, act?: Act<CreditKind>) => Promise<string>;
  readonly takeBack: (user: string, amount: number, act?: Act<TakeBackKind>) => Promise<string>;
  readonly reinstate: (user: string, writesOff?: boolean) => Promise<string>;
  readonly wallets: Wallets;
  readonly wallet: (user: string) => Promise<WalletState>;
  /** What calls with keys that have a budget cost this month and hold. */
  readonly budgets: (keys: readonly KeyId[]) => Promise<ReadonlyMap<KeyId, BudgetState>>;
  /** Moves what this wallet's calls of that month count for budgets out of the current month, where it was counted. */
  readonly moveBudgets: (user: string, month: string) => Promise<void>;
  /** Changes a wallet's row in a way that no role of the service may. */
  readonly setWallet: (user: string, assignment: string) => Promise<void>;
  readonly differences: () => Promise<readonly Difference[]>;
  readonly close: () => Promise<void>;
}

interface Act<Kind> {
  readonly kind?: Kind;
  /** A new one if it is left out. */
  readonly key?: string;
}

export interface SettleAnswer {
  readonly isSettled: boolean;
  readonly charged: number;
}

/** The two ways to place and end holds: judged one by one, or in turns, as the gateway does it. */
export const WAYS = {
  judged: {
    reserve: reserveHolds,
    settle: settleHolds,
    turn: async (db: Pool, instance: bigint, { settlements, requests }: Turn) => {
      const settled = await settleHolds(db, settlements);
      return { settled, placed: await reserveHolds(db, instance, requests) };
    },
  },
  inTurns: { reserve: placeHolds, settle: endHolds, turn: takeTurn },
} as const;

/** With `waitsLong`, no statement fails because a row stays locked (`lock-wait.ts`). */
export async function createLedgerDatabase(
  way: keyof typeof WAYS = 'judged',
  waitsLong = false,
): Promise<LedgerDatabase> {
  return openLedgerDatabase(await createTestDatabase(), way, waitsLong);
}

/** The database is closed with it. */
export async function openLedgerDatabase(
  database: TestDatabase,
  way: keyof typeof WAYS,
  waitsLong = false,
): Promise<LedgerDatabase> {
  const { owner } = database;
  const live = createPool({
    url: database.url,
    role: 'live',
    connectionsMax: 8,
    log: createLog('silent'),
    emails: EMAIL_SEAL,
    connectMsMax: CONNECT_MS_MAX,
  });
  if (waitsLong) waitLongForLocks(live);
  const instance = await insertInstance(live, LEASE_MS);
  return {
    database,
    live,
    instance,
    addInstance: () => insertInstance(live, LEASE_MS),
    open: (user, balance, cap) => openWallet(live, { user, balance, cap }),
    reserve: async (requests, by = instance) => answersOf(requests, await WAYS[way].reserve(live, by, requests)),
    drain: (calls) =>
      beginDrains(
        live,
        calls.map(({ callId }) => callId),
      ),
    settle: async (settlements) => endsOf(settlements, await WAYS[way].settle(live, settlements)),
    turn: async (settlements, requests, by = instance) => {
      const { settled, placed } = await WAYS[way].turn(live, by, { settlements, requests });
      return { settled: endsOf(settlements, settled), placed: answersOf(requests, placed) };
    },
    credit: (user, amount, { kind = 'top_up', key = newCallId() } = {}) =>
      insertCredit(live, { appId: APP, userId: user as EndUserId, kind, amount: micros(BigInt(amount)), key }),
    takeBack: (user, amount, { kind = 'claw_back', key = newCallId() } = {}) =>
      insertTakeBack(live, { appId: APP, userId: user as EndUserId, kind, amount: micros(BigInt(amount)), key }),
    reinstate: (user, writesOff = false) => reinstateWallet(live, { appId: APP, userId: user as EndUserId, writesOff }),
    wallets: createWallets(live),
    wallet: (user) => readWallet(owner, user),
    budgets: (keys) => readBudgets(live, keys),
    moveBudgets: (user, month) => moveBudgets(owner, user, month),
    setWallet: async (user, assignment) => {
      await owner.query(`update ledger.wallets set ${assignment} where user_id = $1`, [user]);
    },
    differences: async () => (await checkLedger(live)).differences,
    close: async () => {
      await live.end();
      await database.close();
    },
  };
}

/** A request for between `least` and `most`, which are the same if only one is given. */
export function holdOf(
  user: string,
  amount: number | { readonly least: number; readonly most: number },
  {
    callId = newCallId(),
    streamsMax = 0,
    callsMax = 0,
    idempotencyKey,
    budget,
  }: Partial<Pick<HoldRequest, 'callId' | 'streamsMax' | 'callsMax' | 'idempotencyKey' | 'budget'>> = {},
): HoldRequest {
  const { least, most } = typeof amount === 'number' ? { least: amount, most: amount } : amount;
  return {
    callId,
    appId: APP,
    userId: user as EndUserId,
    least: micros(BigInt(least)),
    most: micros(BigInt(most)),
    streamsMax,
    callsMax,
    idempotencyKey,
    budget,
  };
}

/** The end of a call: answered at this price, or failed if the price is zero. */
export function endOf({ callId }: { readonly callId: CallId }, charge: number): Settlement {
  const isFree = charge === 0;
  return {
    callId,
    charge: micros(BigInt(charge)),
    outcome: isFree ? 'failed' : 'answered',
    model: 'acme.large-1',
    priceId: 1n,
    isEstimated: false,
    isUsageClamped: false,
    usage: { promptTokens: 10, cachedTokens: 1, cacheWriteTokens: 0, completionTokens: 5, reasoningTokens: 2 },
    correlationId: undefined,
  };
}

async function openWallet(
  live: Pool,
  wallet: { readonly user: string; readonly balance: number; readonly cap: number | undefined },
): Promise<void> {
  const userId = wallet.user as EndUserId;
  const cap = wallet.cap === undefined ? undefined : micros(BigInt(wallet.cap));
  await insertWallet(live, { appId: APP, userId, currency: 'EUR', cap });
  if (wallet.balance === 0) return;
  const credit = { appId: APP, userId, kind: 'contract_credit', amount: micros(BigInt(wallet.balance)) } as const;
  await insertCredit(live, { ...credit, key: 'first' });
}

function answersOf(requests: readonly HoldRequest[], rows: readonly ReservedRow[]): readonly (string | number)[] {
  return requests.map(({ callId }) => {
    const row = rows.find(({ call_id: id }) => id === callId);
    if (row === undefined) throw new Error('A request was not answered.');
    return row.outcome === 'granted' ? Number(row.granted) : row.outcome;
  });
}

function endsOf(settlements: readonly Settlement[], rows: readonly SettledRow[]): readonly SettleAnswer[] {
  return settlements.map(({ callId }) => {
    const row = rows.find(({ call_id: id }) => id === callId);
    if (row === undefined) throw new Error('A settlement was not answered.');
    return { isSettled: row.is_settled, charged: Number(row.charged) };
  });
}

async function readWallet(owner: Pool, user: string): Promise<WalletState> {
  const row = await sqlRow<WalletState>(owner)`
    select balance_micros::float8 as balance, held_micros::float8 as held, open_streams as "openStreams",
      cap_month::text as "capMonth", cap_spent_micros::float8 as "capSpent", cap_held_micros::float8 as "capHeld",
      is_suspended as "isSuspended", is_clawed as "isClawed",
      shortfall_micros::float8 as shortfall, entry_seq::int as entries
    from ledger.wallets where app_id = ${APP} and user_id = ${user}`;
  if (row === undefined) throw new Error(`There is no wallet of ${user}.`);
  return row;
}

async function readBudgets(live: Pool, keys: readonly KeyId[]): Promise<ReadonlyMap<KeyId, BudgetState>> {
  const found = budgetUseOf(await selectKeyBudgets(live, keys));
  return new Map(
    keys.map((key) => [key, { spent: Number(found.get(key)?.spent ?? 0), held: Number(found.get(key)?.held ?? 0) }]),
  );
}

async function moveBudgets(owner: Pool, user: string, month: string): Promise<void> {
  await owner.query(
    `with moved as (
       select m.budget_key, sum(m.spent)::bigint as spent, sum(m.held)::bigint as held
       from (
         select h.wallet_id, h.month, h.budget_key, 0 as spent, h.amount_micros as held from ledger.holds h
         union all
         select c.wallet_id, c.month, c.budget_key, c.charged_micros, 0 from usage.calls c
       ) m
       where m.month = $2 and m.budget_key is not null
         and m.wallet_id = (select w.wallet_id from ledger.wallets w where w.user_id = $1)
       group by m.budget_key
     ), old as (
       insert into ledger.key_budgets (key_id, month, spent_micros, held_micros)
       select m.budget_key, $2, m.spent, m.held from moved m
     )
     update ledger.key_budgets b set spent_micros = b.spent_micros - m.spent, held_micros = b.held_micros - m.held
     from moved m where b.key_id = m.budget_key and b.month > '2000-01-01'`,
    [user, month],
  );
}
