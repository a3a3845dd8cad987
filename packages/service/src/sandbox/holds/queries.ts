import { holdRequests } from '#db/records/hold-request.ts';
import { namedSessions } from '#db/records/named-session.ts';
import type { Queryable } from '#db/pool/pool.ts';
import type { HoldRequest, HoldRow } from '#kernel/calls/hold.ts';
import type { AppId, CallId, EndUserId, KeyId } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';
import type { SessionPlace, SessionRow, SessionUser } from '#kernel/calls/session-page.ts';
import { type SandboxSettlement, sandboxSettlementRecords } from '#sandbox/holds/settlement.ts';

/** The field `plays` holds the outcome that was set for this call (decision 19). */
type SandboxHoldRow = HoldRow & { readonly plays: string | null };

/** Places a hold in the sandbox wallet of each request (see `place.sql` and `reserve.sql`). */
export async function reserveSandboxHolds(
  db: Queryable,
  instanceId: bigint,
  grant: Micros,
  requests: readonly HoldRequest[],
): Promise<readonly SandboxHoldRow[]> {
  const { rows } = await db.query<SandboxHoldRow>({
    name: 'sandbox_place',
    text: 'select call_id, outcome, granted, earlier, plays from sandbox.place($1, $2, $3)',
    values: [instanceId, grant, holdRequests(requests)],
  });
  return rows;
}

/** `is_joined` means that nothing has ended, because a retry waits for the answer. */
interface SandboxSettledRow {
  readonly call_id: CallId;
  readonly charged: bigint;
  readonly is_joined: boolean;
}

/** Ends calls (see `settle.sql`). A call that has ended already stays as it is. */
export async function settleSandboxHolds(
  db: Queryable,
  settlements: readonly SandboxSettlement[],
): Promise<readonly SandboxSettledRow[]> {
  const { rows } = await db.query<SandboxSettledRow>({
    name: 'sandbox_settle',
    text: 'select call_id, charged, is_joined from sandbox.settle($1, $2)',
    values: [sandboxSettlementRecords(settlements), namedSessions(settlements)],
  });
  return rows;
}

/** Releases at most `most` holds of fenced processes and returns how many it released. */
export async function reapSandboxHolds(db: Queryable, most: number): Promise<number> {
  const { rows } = await db.query<{ released: number }>(`select sandbox.reap($1) as released`, [most]);
  return rows[0]?.released ?? 0;
}

/** A sandbox wallet with its counters. It has no ledger: balance and counters are all there is. */
export interface SandboxWalletRow {
  readonly user_id: EndUserId;
  readonly balance_micros: bigint;
  readonly held_micros: bigint;
  readonly cap_micros: bigint | null;
  readonly is_suspended: boolean;
  readonly requests: bigint;
  readonly tokens: bigint;
  readonly next_outcome: string | null;
}

const WALLET_COLUMNS = 'user_id, balance_micros, held_micros, cap_micros, is_suspended, requests, tokens, next_outcome';

/** Replaces a sandbox wallet with a new one (see `reset.sql`). */
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
  if (row === undefined) throw new Error('The reset of a sandbox wallet returned no row.');
  return row;
}

/** Sets the outcome of a test user's next call, or clears it (see `set_next.sql`). */
export async function setNextOutcome(
  db: Queryable,
  next: {
    readonly appId: AppId;
    readonly userId: EndUserId;
    readonly grant: Micros;
    readonly outcome: string | undefined;
  },
): Promise<SandboxWalletRow> {
  const { rows } = await db.query<SandboxWalletRow>(`select ${WALLET_COLUMNS} from sandbox.set_next($1, $2, $3, $4)`, [
    next.appId,
    next.userId,
    next.grant,
    next.outcome ?? null,
  ]);
  const row = rows[0];
  if (row === undefined) throw new Error('No row says what the next call of a test user will play.');
  return row;
}

/** Finds one test user's wallet, unless it has expired. */
export async function selectSandboxWallet(
  db: Queryable,
  appId: AppId,
  userId: EndUserId,
): Promise<SandboxWalletRow | undefined> {
  const { rows } = await db.query<SandboxWalletRow>(`select ${WALLET_COLUMNS} from sandbox.find($1, $2)`, [
    appId,
    userId,
  ]);
  return rows[0];
}

/** Lists an app's sandbox wallets in the order of their user ids, after `page.after`. */
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

/** Lists sessions of a test user before one, those that began last first (see `sessions_of.sql`). */
export async function selectSandboxSessions(
  db: Queryable,
  { appId, userId }: SessionUser,
  { before, most }: { readonly before: SessionPlace | undefined; readonly most: number },
): Promise<readonly SessionRow[]> {
  const { rows } = await db.query<SessionRow>(
    `select session_id, name, client, begun_at, (extract(epoch from begun_at) * 1000000)::bigint as begun_micros, last_at, calls,
       charged_micros
     from sandbox.sessions_of($1, $2, $3, $4, $5)`,
    [appId, userId, before?.begunMicros ?? null, before?.sessionId ?? null, most],
  );
  return rows;
}

/**
 * Looks at the next `most` sandbox wallets after `after`, in the order they were made, and deletes those that have expired.
 * Returns the last one it looked at; undefined when there was none, so that the caller starts over.
 */
export async function expireSandboxWallets(db: Queryable, after: bigint, most: number): Promise<bigint | undefined> {
  const { rows } = await db.query<{ last: bigint | null }>('select sandbox.expire($1, $2) as last', [after, most]);
  return rows[0]?.last ?? undefined;
}

interface KeyBudgetRow {
  readonly key_id: KeyId;
  readonly spent_micros: bigint;
  readonly held_micros: bigint;
}

/** Reads this month's budgets of API keys (see `budgets_of.sql`). */
export async function selectKeyBudgets(db: Queryable, lines: readonly KeyId[]): Promise<readonly KeyBudgetRow[]> {
  const { rows } = await db.query<KeyBudgetRow>(
    'select key_id, spent_micros, held_micros from sandbox.budgets_of($1)',
    [lines],
  );
  return rows;
}
