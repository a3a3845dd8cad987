import type { Queryable } from '#db/pool.ts';
import type { CallId } from '#kernel/ids.ts';

export interface HoldRow {
  readonly call_id: CallId;
  readonly amount_micros: bigint;
  readonly is_stream: boolean;
  readonly placed_at: Date;
}

/** Reads the open holds of a wallet, the oldest first. */
export async function selectHoldsOfWallet(db: Queryable, walletId: bigint, most: number): Promise<readonly HoldRow[]> {
  const { rows } = await db.query<HoldRow>(
    `select call_id, amount_micros, is_stream, placed_at from ledger.holds
     where wallet_id = $1 order by placed_at, call_id limit $2`,
    [walletId, most],
  );
  return rows;
}

export interface EntryRow {
  readonly seq: bigint;
  readonly kind: string;
  readonly cause: string;
  readonly debit: string;
  readonly credit: string;
  readonly amount_micros: bigint;
  readonly balance_after_micros: bigint;
  readonly at: Date;
}

/** Reads the entries of a wallet, the newest first. `before` is an entry number: only earlier entries are read. */
export async function selectEntriesOfWallet(
  db: Queryable,
  walletId: bigint,
  page: { readonly before: bigint | undefined; readonly most: number },
): Promise<readonly EntryRow[]> {
  const { rows } = await db.query<EntryRow>(
    `select seq, kind, cause, debit, credit, amount_micros, balance_after_micros, at
     from ledger.history($1, $2, $3, false)`,
    [walletId, page.before ?? null, page.most],
  );
  return rows;
}

/** The kinds of entries that owners read: those that move their balance, and the payout of a refund that was set aside. */
export type MovementKind =
  | 'charge'
  | 'top_up'
  | 'contract_credit'
  | 'funds_reinstated'
  | 'refund'
  | 'claw_back'
  | 'recovery'
  | 'refund_set_aside'
  | 'refund_paid'
  | 'refund_released';

type MovementRow = Omit<EntryRow, 'kind' | 'cause'> &
  (
    | { readonly kind: 'charge'; readonly cause: CallId }
    | { readonly kind: Exclude<MovementKind, 'charge'>; readonly cause: string }
  );

/** Reads the entries of a wallet that its owner may see, the newest first. */
export async function selectMovementsOfWallet(
  db: Queryable,
  walletId: bigint,
  page: { readonly before: bigint | undefined; readonly most: number },
): Promise<readonly MovementRow[]> {
  const { rows } = await db.query<MovementRow>(
    `select seq, kind, cause, debit, credit, amount_micros, balance_after_micros, at
     from ledger.history($1, $2, $3, true)`,
    [walletId, page.before ?? null, page.most],
  );
  return rows;
}
