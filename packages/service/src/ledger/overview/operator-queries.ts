import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, EndUserId } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';
import type { EntryRow } from '#ledger/history/queries.ts';
import { WALLET_COLUMNS, type WalletRow } from '#ledger/wallet/queries.ts';

/** A wallet of any app, as lists for operators have it. */
export interface AnyWalletRow extends WalletRow {
  readonly app_id: AppId;
  readonly created_at: Date;
  /** Where it is in the list: the microsecond since 1970 when it was opened, a dot and its id; in the order of user ids, its user and app. */
  readonly place: string;
}

/** Which wallets are listed. A field that is undefined lists all. */
export interface WalletFilter {
  readonly appId: AppId | undefined;
  /** What the user id begins with. The wallets then come in the order of user ids. */
  readonly userId: string | undefined;
  readonly status: 'connected' | 'disconnected' | 'suspended' | undefined;
  readonly openedFromMs: number | undefined;
  readonly openedBeforeMs: number | undefined;
  readonly minHeld: Micros | undefined;
  readonly minBalance: Micros | undefined;
  readonly maxBalance: Micros | undefined;
}

export interface WalletPage {
  readonly isOldestFirst: boolean;
  /** Only wallets that come after this place are read. */
  readonly after: string | undefined;
  readonly most: number;
}

/** Wallets in the order of a list, and the place to which none is missing. If it is undefined, the list is complete to its end. */
export interface WalletRows {
  readonly rows: readonly AnyWalletRow[];
  readonly upTo: string | undefined;
}

/** How many wallets one page may look at: some 10 ms of PostgreSQL. */
const LOOK_MOST = 5_000;

const STATUSES = {
  connected: 'is_connected and not is_suspended',
  disconnected: 'not is_connected',
  suspended: 'is_suspended',
} as const;

/** No user id has a character as high as this one (AU-04). */
const ABOVE_ALL = '\u007f';

/** Makes the text of a statement and its values together. */
interface Statement {
  readonly values: unknown[];
  readonly param: (value: unknown) => string;
}

/** Finds wallets of all apps. It reads a range of one index, at most 5,000 wallets of it, and keeps those that fit. */
export async function selectAnyWallets(
  db: Queryable,
  filter: WalletFilter,
  page: WalletPage,
  most = LOOK_MOST,
): Promise<WalletRows> {
  const values: unknown[] = [];
  const statement = { values, param: (value: unknown) => `$${values.push(value)}` };
  const order = orderOf(filter, page);
  const place = placeOf(filter);
  const range = [...rangeOf(filter, statement), ...cursorOf(filter, page, statement)];
  const fits = conditionsOf(filter, statement);
  const lookMost = fits.length === 0 ? page.most : most;
  const { rows } = await db.query<{ [Name in keyof AnyWalletRow]: AnyWalletRow[Name] | null } & LookedRow>(
    `with looked as materialized (
       select w.* from ${sourceOf(filter)} where ${['true', ...range].join(' and ')}
       order by ${order} limit ${statement.param(lookMost)}
     )
     select e.looked, e.last, f.* from (
       select count(*) as looked, (array_agg(${place} order by ${order}))[count(*)::int] as last from looked w
     ) e left join (
       select w.app_id, w.created_at, ${place} as place, ${WALLET_COLUMNS} from looked w where ${['true', ...fits].join(' and ')}
       order by ${order} limit ${statement.param(page.most)}
     ) f on true`,
    values,
  );
  const [first] = rows;
  const found = rows.filter((row): row is AnyWalletRow & LookedRow => row.wallet_id !== null);
  if (found.length === page.most) return { rows: found, upTo: found.at(-1)?.place };
  const isCut = first !== undefined && first.looked >= BigInt(lookMost);
  return { rows: found, upTo: isCut ? (first.last ?? undefined) : undefined };
}

interface LookedRow {
  readonly looked: bigint;
  readonly last: string | null;
}

/** Wallets with held money are found by the holds, of which there are as many as calls run. Each look-up is pinned to the key. */
function sourceOf({ minHeld }: WalletFilter): string {
  return minHeld === undefined
    ? 'ledger.wallets w'
    : `(select distinct wallet_id from ledger.holds) h
       cross join lateral (select * from ledger.wallets x where x.wallet_id = h.wallet_id offset 0) w`;
}

function orderOf({ userId }: WalletFilter, { isOldestFirst }: WalletPage): string {
  if (userId !== undefined) return `w.user_id || ' ' || w.app_id`;
  return isOldestFirst ? 'w.created_at, w.wallet_id' : 'w.created_at desc, w.wallet_id desc';
}

function placeOf({ userId }: WalletFilter): string {
  if (userId !== undefined) return `w.user_id || ' ' || w.app_id`;
  return `(extract(epoch from w.created_at) * 1000000)::bigint || '.' || w.wallet_id`;
}

/** What an index is read by. Each line is written as its index in 0007_ledger.sql is. */
function rangeOf(
  { appId, userId, status, openedFromMs, openedBeforeMs }: WalletFilter,
  { param }: Statement,
): readonly string[] {
  if (userId !== undefined) {
    const [from, to] = [param(userId), param(`${userId}${ABOVE_ALL}`)];
    return [`w.user_id || ' ' || w.app_id >= ${from} and w.user_id || ' ' || w.app_id < ${to}`];
  }
  const isOut = isOutOfOrder(status);
  const at = (ms: number) => `to_timestamp(${param(ms)}::float8 / 1000)`;
  return [
    ...(isOut ? ['(w.is_suspended or not w.is_connected)'] : []),
    ...(appId === undefined || isOut ? [] : [`w.app_id || '' = ${param(appId)}`]),
    ...(openedFromMs === undefined ? [] : [`w.created_at >= ${at(openedFromMs)}`]),
    ...(openedBeforeMs === undefined ? [] : [`w.created_at < ${at(openedBeforeMs)}`]),
  ];
}

/** Returns true for a status that few wallets have. They have an index of their own. */
function isOutOfOrder(status: WalletFilter['status']): boolean {
  return status === 'suspended' || status === 'disconnected';
}

function cursorOf(
  { userId }: WalletFilter,
  { isOldestFirst, after }: WalletPage,
  { param }: Statement,
): readonly string[] {
  if (after === undefined) return [];
  if (userId !== undefined) return [`w.user_id || ' ' || w.app_id > ${param(after)}`];
  const side = isOldestFirst ? '>' : '<';
  const [us, id] = after.split('.');
  const at = `timestamptz 'epoch' + ${param(us)}::bigint * interval '1 microsecond'`;
  return [`(w.created_at, w.wallet_id) ${side} (${at}, ${param(id)}::bigint)`];
}

/** What is compared wallet by wallet: the rest of the filter. */
function conditionsOf(filter: WalletFilter, { param }: Statement): readonly string[] {
  const { appId, userId, status, openedFromMs, openedBeforeMs, minHeld, minBalance, maxBalance } = filter;
  const at = (ms: number) => `to_timestamp(${param(ms)}::float8 / 1000)`;
  return [
    ...(appId === undefined || (userId === undefined && !isOutOfOrder(status)) ? [] : [`w.app_id = ${param(appId)}`]),
    ...(status === undefined ? [] : [STATUSES[status]]),
    ...(userId === undefined || openedFromMs === undefined ? [] : [`w.created_at >= ${at(openedFromMs)}`]),
    ...(userId === undefined || openedBeforeMs === undefined ? [] : [`w.created_at < ${at(openedBeforeMs)}`]),
    ...(minHeld === undefined ? [] : [`w.held_micros >= ${param(minHeld)}`]),
    ...(minBalance === undefined ? [] : [`w.balance_micros >= ${param(minBalance)}`]),
    ...(maxBalance === undefined ? [] : [`w.balance_micros <= ${param(maxBalance)}`]),
  ];
}

/** A wallet and how far its books are. */
interface WalletStateRow extends WalletRow {
  /** Grows with every change of the wallet. */
  readonly version: bigint;
  readonly entry_seq: bigint;
}

export async function selectWalletState(
  db: Queryable,
  wallet: { readonly appId: AppId; readonly userId: EndUserId },
): Promise<WalletStateRow | undefined> {
  const { rows } = await db.query<WalletStateRow>(
    `select ${WALLET_COLUMNS}, version, entry_seq from ledger.wallets w where app_id = $1 and user_id = $2`,
    [wallet.appId, wallet.userId],
  );
  return rows[0];
}

/** Reads entries that are no charges, after a number, the oldest first. */
export async function selectJournalAfter(
  db: Queryable,
  walletId: bigint,
  seq: bigint,
  most: number,
): Promise<readonly EntryRow[]> {
  const { rows } = await db.query<EntryRow>(
    `select seq, kind, cause, debit, credit, amount_micros, balance_after_micros, at from ledger.journal
     where wallet_id = $1 and seq > $2 order by seq limit $3`,
    [walletId, seq, most],
  );
  return rows;
}
