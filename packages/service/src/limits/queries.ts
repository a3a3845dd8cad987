import { plainArray, textArray } from '#db/array-literal.ts';
import type { Queryable } from '#db/pool.ts';
import type { AppId } from '#kernel/ids.ts';

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

/** Takes tokens from buckets, each bucket at most once, see `take.sql`. */
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

export interface LeaseAsked extends TokensAsked {
  readonly bucket: AppId;
  /** What this process keeps of its lease, what it hands in, and how many tokens it would have in all. */
  readonly kept: number;
  readonly back: number;
  readonly leased: number;
}

export interface LeaseRow {
  readonly app_id: AppId;
  readonly granted: number;
  /** False: nothing of what was kept may be spent. */
  readonly is_held: boolean;
  readonly leased: number;
  /** In the bucket, with the part of the next one; and the most that time adds up to there. */
  readonly tokens_left: number;
  readonly tokens_full: number;
  readonly wait_ms: number;
}

/** Takes tokens and leases more for calls to come, each bucket at most once, see `lease_tokens.sql`. */
export async function leaseTokens(
  db: Queryable,
  holder: string,
  asked: readonly LeaseAsked[],
): Promise<readonly LeaseRow[]> {
  const { rows } = await db.query<LeaseRow>({
    name: 'limits_lease_tokens',
    text: `select app_id, granted, is_held, leased, tokens_left, tokens_full, wait_ms
      from limits.lease_tokens($1, $2, $3, $4, $5, $6, $7, $8)`,
    values: [
      holder,
      textArray(asked.map(({ bucket }) => bucket)),
      plainArray(asked.map(({ perMinute }) => perMinute)),
      plainArray(asked.map(({ burst }) => burst)),
      plainArray(asked.map(({ wanted }) => wanted)),
      plainArray(asked.map(({ kept }) => kept)),
      plainArray(asked.map(({ back }) => back)),
      plainArray(asked.map(({ leased }) => leased)),
    ],
  });
  return rows;
}

/** Removes at most so many buckets of tries that nobody has used for a day. */
export async function forgetTries(db: Queryable, bucketsMax: number): Promise<void> {
  await db.query(`select limits.forget_tries($1)`, [bucketsMax]);
}
