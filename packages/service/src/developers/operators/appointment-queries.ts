import type { Queryable } from '#db/pool/pool.ts';
import type { AccountId } from '#kernel/values/ids.ts';

/** Records that an operator has made somebody an operator, or changed how they get in. */
export async function updateAppointed(tx: Queryable, accountId: AccountId, by: string): Promise<void> {
  await tx.query(
    `update accounts.accounts set appointed_at = clock_timestamp(), appointed_by = $2 where account_id = $1`,
    [accountId, by],
  );
}

/** Who appointed an account less than `ms` ago, who had appointed them, and so on. Nobody is named twice, nor the account itself. */
export async function selectAppointers(db: Queryable, accountId: string, ms: number): Promise<readonly string[]> {
  const { rows } = await db.query<{ account_id: string }>(
    `with recursive appointers as (
       select appointed_by as account_id from accounts.accounts
       where account_id = $1 and appointed_at > clock_timestamp() - $2 * interval '1 millisecond'
       union
       select a.appointed_by from accounts.accounts a join appointers using (account_id)
       where a.appointed_at > clock_timestamp() - $2 * interval '1 millisecond'
     )
     select account_id from appointers where account_id <> $1 order by account_id`,
    [accountId, ms],
  );
  return rows.map(({ account_id }) => account_id);
}

/** Those of these accounts that an operator has appointed less than `ms` ago. */
export async function selectAppointed(
  db: Queryable,
  accountIds: readonly string[],
  ms: number,
): Promise<readonly string[]> {
  const { rows } = await db.query<{ account_id: string }>(
    `select account_id from accounts.accounts
     where account_id = any($1) and appointed_at > clock_timestamp() - $2 * interval '1 millisecond'`,
    [accountIds, ms],
  );
  return rows.map(({ account_id }) => account_id);
}
