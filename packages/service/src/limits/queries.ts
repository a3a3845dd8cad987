import { plainArray, textArray } from '#db/records/array-literal.ts';
import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, KeyId } from '#kernel/values/ids.ts';

interface TokensAsked {
  readonly bucket: string;
  readonly wanted: number;
  readonly perMinute: number;
  readonly burst: number;
}

interface TokensRow {
  readonly app_id: string;
  readonly granted: number;
  readonly tokens_left: number;
  readonly wait_ms: number;
}

/** Takes tokens from buckets (see `take.sql`). A bucket may appear only once in `asked`. */
export async function takeTokens(db: Queryable, asked: readonly TokensAsked[]): Promise<readonly TokensRow[]> {
  const { rows } = await db.query<TokensRow>({
    name: 'limits_take',
    text: `select app_id, granted, tokens_left, wait_ms from limits.take($1, $2, $3, $4)`,
    values: [
      textArray(asked.map(({ bucket }) => bucket)),
      plainArray(asked.map(({ wanted }) => wanted)),
      plainArray(asked.map(({ perMinute }) => perMinute)),
      plainArray(asked.map(({ burst }) => burst)),
    ],
  });
  return rows;
}

export interface LeaseRequest extends TokensAsked {
  readonly bucket: AppId | KeyId;
  /**
   * The leased tokens that this process keeps. The next two fields are those it returns, and how many it wants to hold
   * in all.
   */
  readonly kept: number;
  readonly returned: number;
  readonly target: number;
}

export interface LeaseRow {
  readonly app_id: AppId | KeyId;
  readonly granted: number;
  /**
   * Tells whether the lease still holds. It is false when the lease has expired in the database: none of the kept
   * tokens may be spent any more.
   */
  readonly is_held: boolean;
  /** Tokens newly leased to this process. */
  readonly leased: number;
  /** Tokens in the bucket, fraction included, and the most that it can fill up to while leases are out. */
  readonly tokens_left: number;
  readonly tokens_full: number;
  readonly wait_ms: number;
}

/**
 * Takes tokens for calls that wait and leases tokens for calls to come, in one round trip (see
 * `lease_tokens.sql`). A bucket may appear only once in `asked`. `holder` names this process.
 */
export async function leaseTokens(
  db: Queryable,
  holder: string,
  asked: readonly LeaseRequest[],
): Promise<readonly LeaseRow[]> {
  const { rows } = await db.query<LeaseRow>({
    name: 'limits_lease_tokens',
    text: `select app_id, granted, is_held, leased, tokens_left, tokens_full, wait_ms
      from limits.lease_tokens($1, $2, $3, $4, $5, $6, $7, $8)`,
    values: [holder, ...columnsOf(asked)],
  });
  return rows;
}

/** What a process of another cell asks. `holder` is a UUID that names it; `number` counts its requests from 1. */
export interface CellTokenRequest {
  readonly holder: string;
  readonly number: number;
  readonly asked: readonly LeaseRequest[];
}

/**
 * Leases tokens to a process of another cell (see `lease_to_cell.sql`). Undefined if this request came before, or if one with a higher number did.
 */
export async function leaseTokensToCell(
  db: Queryable,
  { holder, number, asked }: CellTokenRequest,
): Promise<readonly LeaseRow[] | undefined> {
  const { rows } = await db.query<LeaseRow>({
    name: 'limits_lease_to_cell',
    text: `select app_id, granted, is_held, leased, tokens_left, tokens_full, wait_ms
      from limits.lease_to_cell($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [number, holder, ...columnsOf(asked)],
  });
  return rows.length === asked.length ? rows : undefined;
}

function columnsOf(asked: readonly LeaseRequest[]): readonly string[] {
  return [
    textArray(asked.map(({ bucket }) => bucket)),
    plainArray(asked.map(({ perMinute }) => perMinute)),
    plainArray(asked.map(({ burst }) => burst)),
    plainArray(asked.map(({ wanted }) => wanted)),
    plainArray(asked.map(({ kept }) => kept)),
    plainArray(asked.map(({ returned }) => returned)),
    plainArray(asked.map(({ target }) => target)),
  ];
}

/** Deletes up to `bucketsMax` attempt buckets that have not been used for a day. */
export async function deleteIdleBuckets(db: Queryable, bucketsMax: number): Promise<void> {
  await db.query(`select limits.delete_idle_buckets($1)`, [bucketsMax]);
}
