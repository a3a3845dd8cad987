import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, CallId, EndUserId } from '#kernel/values/ids.ts';
import type { EntryRow } from '#ledger/history/queries.ts';

/** The money that a running call holds, and whose it is. */
export interface CallHoldRow {
  readonly app_id: AppId;
  readonly user_id: EndUserId;
  readonly amount_micros: bigint;
  readonly is_stream: boolean;
  readonly placed_at: Date;
}

/** The hold of a call. Undefined if it has none: it was refused, or has ended. */
export async function selectHoldOfCall(db: Queryable, callId: CallId): Promise<CallHoldRow | undefined> {
  const { rows } = await db.query<CallHoldRow>(
    `select w.app_id, w.user_id, h.amount_micros, h.is_stream, h.placed_at
     from ledger.holds h join ledger.wallets w using (wallet_id) where h.call_id = $1`,
    [callId],
  );
  return rows[0];
}

/** The entries that a call made in its wallet, in their order. Most have one: the charge, which is the receipt itself. */
export async function selectEntriesOfCall(db: Queryable, callId: CallId): Promise<readonly EntryRow[]> {
  const { rows } = await db.query<EntryRow>(
    `select seq, kind, cause, debit, credit, amount_micros, balance_after_micros, at from ledger.entries_of_call($1)`,
    [callId],
  );
  return rows;
}

/** Finds whose wallet has this number, by which the check of the ledger names it. */
export async function selectWalletByNumber(
  db: Queryable,
  walletId: bigint,
): Promise<{ readonly app_id: AppId; readonly user_id: EndUserId } | undefined> {
  const { rows } = await db.query<{ app_id: AppId; user_id: EndUserId }>(
    `select app_id, user_id from ledger.wallets where wallet_id = $1`,
    [walletId],
  );
  return rows[0];
}
