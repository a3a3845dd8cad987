import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, EndUserId } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';
import type { SessionPlace, SessionRow, SessionUser } from '#kernel/calls/session-page.ts';

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
