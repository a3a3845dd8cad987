import { plainArray, textArray } from '#db/array-literal.ts';
import type { Queryable } from '#db/pool.ts';

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

/** Takes tokens from buckets, each bucket at most once, see `limits.take` in the migrations. */
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

/** Removes at most so many buckets of tries that nobody has used for a day. */
export async function forgetTries(db: Queryable, bucketsMax: number): Promise<void> {
  await db.query(`select limits.forget_tries($1)`, [bucketsMax]);
}
