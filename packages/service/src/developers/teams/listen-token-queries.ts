import { type Queryable, withEmail } from '#db/pool/pool.ts';
import type { AppId, SessionId } from '#kernel/values/ids.ts';

interface ListenTokenRow {
  readonly token_id: string;
  readonly email: string;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly last_used_at: Date | null;
}

const IS_VALID = 'expires_at > clock_timestamp()';

/** Counts the tokens of an app that have not expired. */
export async function countListenTokens(tx: Queryable, appId: AppId): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `select count(*)::int as count from accounts.listen_tokens where app_id = $1 and ${IS_VALID}`,
    [appId],
  );
  return rows[0]?.count ?? 0;
}

/** Adds a token. Returns when it expires. */
export async function insertListenToken(
  tx: Queryable,
  token: {
    readonly tokenId: string;
    readonly appId: AppId;
    readonly sessionId: SessionId;
    readonly digest: Buffer;
    readonly lifetimeMs: number;
  },
): Promise<Date> {
  const { rows } = await tx.query<{ expires_at: Date }>(
    `insert into accounts.listen_tokens (token_id, app_id, session_id, digest, expires_at)
     values ($1, $2, $3, $4, clock_timestamp() + $5 * interval '1 ms') returning expires_at`,
    [token.tokenId, token.appId, token.sessionId, token.digest, token.lifetimeMs],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('The token could not be stored.');
  return row.expires_at;
}

/** Lists the tokens of an app that still work, newest first, with the e-mail of the account that made each. */
export async function selectListenTokens(db: Queryable, appId: AppId): Promise<readonly ListenTokenRow[]> {
  const { rows } = await db.query<ListenTokenRow>(
    `select t.token_id, a.email, t.created_at, t.expires_at, t.last_used_at
     from accounts.listen_tokens t join accounts.sessions s using (session_id) join accounts.accounts a using (account_id)
     where t.app_id = $1 and t.${IS_VALID} and s.${IS_VALID} order by t.created_at desc, t.token_id`,
    [appId],
  );
  return rows.map((row) => withEmail(db, row));
}

/** Finds the app of a token, and the digest of the session that made it. Undefined when the token is unknown or has expired. */
export async function selectListenToken(
  db: Queryable,
  digest: Buffer,
): Promise<{ readonly token_id: string; readonly app_id: AppId; readonly session_digest: Buffer } | undefined> {
  const { rows } = await db.query<{ token_id: string; app_id: AppId; session_digest: Buffer }>(
    `select t.token_id, t.app_id, s.digest as session_digest
     from accounts.listen_tokens t join accounts.sessions s using (session_id) where t.digest = $1 and t.${IS_VALID}`,
    [digest],
  );
  return rows[0];
}

/** Records the use of a token, at most once a minute, as for a session. */
export async function touchListenToken(db: Queryable, tokenId: string): Promise<void> {
  await db.query(
    `update accounts.listen_tokens set last_used_at = clock_timestamp()
     where token_id = $1 and coalesce(last_used_at < clock_timestamp() - interval '1 minute', true)`,
    [tokenId],
  );
}

/** Deletes a token. Returns false if the app has no such token. */
export async function deleteListenToken(tx: Queryable, appId: AppId, tokenId: string): Promise<boolean> {
  const { rowCount } = await tx.query('delete from accounts.listen_tokens where app_id = $1 and token_id = $2', [
    appId,
    tokenId,
  ]);
  return rowCount === 1;
}

export async function deleteExpiredListenTokens(db: Queryable, rowsMax: number): Promise<void> {
  await db.query(
    `delete from accounts.listen_tokens where token_id in
       (select token_id from accounts.listen_tokens where expires_at < clock_timestamp() limit $1)`,
    [rowsMax],
  );
}
