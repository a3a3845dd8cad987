import type { Queryable } from '#db/pool/pool.ts';
import type { CallId } from '#kernel/values/ids.ts';

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

/** A part of a wallet's entries, by their numbers. */
interface EntryPage {
  /** Only entries from this one on are read. If it is undefined, they are read from the first. */
  readonly first?: bigint | undefined;
  /** Only entries below this one are read. If it is undefined, they are read up to the newest. */
  readonly before: bigint | undefined;
  readonly most: number;
}

/** Reads the entries of a wallet, the newest first. */
export async function selectEntriesOfWallet(
  db: Queryable,
  walletId: bigint,
  { first = 1n, before, most }: EntryPage,
): Promise<readonly EntryRow[]> {
  const { rows } = await db.query<EntryRow>(
    `select seq, kind, cause, debit, credit, amount_micros, balance_after_micros, at
     from ledger.history($1, $2, $3, false) where seq >= $4`,
    [walletId, before ?? null, most, first],
  );
  return rows;
}

/** The kinds of entries that owners read: those that move their balance, and the payout of a refund that was set aside. */
export const MOVEMENT_KINDS = [
  'charge',
  'top_up',
  'contract_credit',
  'funds_reinstated',
  'refund',
  'claw_back',
  'recovery',
  'refund_set_aside',
  'refund_paid',
  'refund_released',
  'given_up',
  'moved_out',
  'moved_in',
] as const;
export type MovementKind = (typeof MOVEMENT_KINDS)[number];

export type MovementRow = Omit<EntryRow, 'kind' | 'cause'> &
  (
    | { readonly kind: 'charge'; readonly cause: CallId }
    | { readonly kind: Exclude<MovementKind, 'charge'>; readonly cause: string }
  );

/** Reads the entries of a wallet that its owner may see, the newest first. */
export async function selectMovementsOfWallet(
  db: Queryable,
  walletId: bigint,
  { first = 1n, before, most }: EntryPage,
): Promise<readonly MovementRow[]> {
  const { rows } = await db.query<MovementRow>(
    `select seq, kind, cause, debit, credit, amount_micros, balance_after_micros, at
     from ledger.history($1, $2, $3, true) where seq >= $4`,
    [walletId, before ?? null, most, first],
  );
  return rows;
}

/** A UTC day with entries of a wallet. Its calls are summed; `others` counts the owner's other movements. */
export interface DayRow {
  readonly day: string;
  readonly first_seq: bigint;
  readonly last_seq: bigint;
  readonly calls: bigint;
  readonly charged: bigint;
  readonly others: bigint;
  readonly balance_after: bigint;
  readonly balance_before: bigint;
}

/** Reads the days of a wallet, the newest first, see `days.sql`. */
export async function selectDaysOfWallet(
  db: Queryable,
  walletId: bigint,
  { first = 1n, before, most }: EntryPage,
): Promise<readonly DayRow[]> {
  const { rows } = await db.query<DayRow>(
    `select to_char(day, 'YYYY-MM-DD') as day, first_seq, last_seq, calls, charged, others,
       balance_after, balance_before
     from ledger.days($1, $2, $3, $4)`,
    [walletId, before ?? null, most, first],
  );
  return rows;
}

/** A movement that is no call, with how many entries of its range are above it that owners do not read. */
export type OtherMovementRow = MovementRow & { readonly unseen_above: bigint };

/** Reads movements that are no calls, at most `most` in each range of entry numbers, the newest first. */
export async function selectOtherMovements(
  db: Queryable,
  walletId: bigint,
  ranges: readonly { readonly first: bigint; readonly last: bigint }[],
  most: number,
): Promise<readonly OtherMovementRow[]> {
  const { rows } = await db.query<OtherMovementRow>(
    `select m.seq, m.kind, m.cause, m.debit, m.credit, m.amount_micros, m.balance_after_micros, m.at, m.unseen_above
     from unnest($2::bigint[], $3::bigint[]) as r (first, last)
     cross join lateral (
       select * from (
         select j.*, s.is_seen, count(*) filter (where not s.is_seen) over (order by j.seq desc) as unseen_above
         from ledger.journal j
         cross join lateral (values ('wallet' in (j.debit, j.credit) or j.kind = 'refund_paid')) s (is_seen)
         where j.wallet_id = $1 and j.seq between r.first and r.last and j.kind <> 'charge'
       ) o
       where o.is_seen
       order by o.seq desc limit $4
     ) m
     order by m.seq desc`,
    [walletId, ranges.map(({ first }) => first), ranges.map(({ last }) => last), most],
  );
  return rows;
}

/** An entry by the key that it was booked under. `of`: the kind in its cause; an entry of what is owed has that of what was taken. */
export interface KeyedEntry {
  readonly kind: string;
  readonly of: string;
  readonly key: string;
}

/** Reads the entries of a wallet that were booked under these keys, the oldest first, each by the index of causes. */
export async function selectEntriesOfKeys(
  db: Queryable,
  walletId: bigint,
  keys: readonly KeyedEntry[],
): Promise<readonly EntryRow[]> {
  const { rows } = await db.query<EntryRow>(
    `select j.seq, j.kind, j.cause, j.debit, j.credit, j.amount_micros, j.balance_after_micros, j.at
     from unnest($2::ledger.entry_kind[], $3::text[], $4::text[]) as k (kind, caused_by, key)
     join ledger.journal j on j.kind = k.kind and j.cause = k.caused_by || ':' || $1::bigint || ':' || k.key
     order by j.seq`,
    [walletId, keys.map(({ kind }) => kind), keys.map(({ of }) => of), keys.map(({ key }) => key)],
  );
  return rows;
}

/** A time that a wallet was in this cell, with the numbers of its entries, see `stays.sql`. */
interface StayRow {
  readonly move: number;
  readonly since: Date | null;
  readonly first_seq: bigint;
  readonly before_seq: bigint | null;
  readonly own_first: bigint;
  readonly own_before: bigint | null;
}

/** Reads the times that a wallet was in this cell, the newest first. */
export async function selectStays(db: Queryable, walletId: bigint, slot: number): Promise<readonly StayRow[]> {
  const { rows } = await db.query<StayRow>(
    `select move, since, first_seq, before_seq, own_first, own_before from ledger.stays($1, $2)`,
    [walletId, slot],
  );
  return rows;
}
