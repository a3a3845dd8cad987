import { ACCOUNT_COLUMNS, type AccountRow } from '#developers/accounts/queries.ts';
import { type Queryable, withEmail } from '#db/pool/pool.ts';
import type { AccountId, AppId } from '#kernel/values/ids.ts';

interface TestTokenRow {
  readonly token_id: string;
  readonly email: string;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
}

/** A token works while its maker owns the app and may sign in. */
const IN_FORCE = `join accounts.accounts on accounts.account_id = t.account_id and not is_disabled and exists (
       select from accounts.members m where m.app_id = t.app_id and m.account_id = t.account_id and m.role = 'owner')`;

/** Counts the tokens of an app that work: those that its owners see. */
export async function countTestTokens(tx: Queryable, appId: AppId): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `select count(*)::int as count from accounts.test_tokens t ${IN_FORCE} where t.app_id = $1`,
    [appId],
  );
  return rows[0]?.count ?? 0;
}

export async function insertTestToken(
  tx: Queryable,
  token: {
    readonly tokenId: string;
    readonly appId: AppId;
    readonly accountId: AccountId;
    readonly digest: Buffer;
  },
): Promise<void> {
  await tx.query('insert into accounts.test_tokens (token_id, app_id, account_id, digest) values ($1, $2, $3, $4)', [
    token.tokenId,
    token.appId,
    token.accountId,
    token.digest,
  ]);
}

/** Deletes the tokens that somebody made who owns the app no longer. */
export async function deleteTestTokensBy(tx: Queryable, appId: AppId, accountId: AccountId): Promise<void> {
  await tx.query('delete from accounts.test_tokens where app_id = $1 and account_id = $2', [appId, accountId]);
}

/** Lists the tokens of an app that work, newest first, with the e-mail of the owner who made each. */
export async function selectTestTokens(db: Queryable, appId: AppId): Promise<readonly TestTokenRow[]> {
  const { rows } = await db.query<TestTokenRow>(
    `select t.token_id, email, t.created_at, t.last_used_at
     from accounts.test_tokens t ${IN_FORCE}
     where t.app_id = $1 order by t.created_at desc, t.token_id`,
    [appId],
  );
  return rows.map((row) => withEmail(db, row));
}

/** Finds the app of a token and the account for which it acts. Undefined when it is unknown, or does not work any more. */
export async function selectTestToken(
  db: Queryable,
  digest: Buffer,
): Promise<{ readonly token_id: string; readonly app_id: AppId; readonly account: AccountRow } | undefined> {
  const { rows } = await db.query<AccountRow & { readonly token_id: string; readonly app_id: AppId }>(
    `select t.token_id, t.app_id, ${ACCOUNT_COLUMNS} from accounts.test_tokens t ${IN_FORCE} where t.digest = $1`,
    [digest],
  );
  const row = rows[0] && withEmail(db, rows[0]);
  return row && { token_id: row.token_id, app_id: row.app_id, account: row };
}

/** Records the use of a token, at most once a minute, as for a session. */
export async function touchTestToken(db: Queryable, tokenId: string): Promise<void> {
  await db.query(
    `update accounts.test_tokens set last_used_at = clock_timestamp()
     where token_id = $1 and coalesce(last_used_at < clock_timestamp() - interval '1 minute', true)`,
    [tokenId],
  );
}

/** Deletes a token. Returns false if the app has no such token. */
export async function deleteTestToken(tx: Queryable, appId: AppId, tokenId: string): Promise<boolean> {
  const { rowCount } = await tx.query('delete from accounts.test_tokens where app_id = $1 and token_id = $2', [
    appId,
    tokenId,
  ]);
  return rowCount === 1;
}
