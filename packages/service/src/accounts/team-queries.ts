import type { AppRole } from '@purser/contract/access.ts';
import { OWN_APP_COLUMNS, type OwnAppRow } from '#accounts/queries.ts';
import type { Queryable } from '#db/pool.ts';
import type { AccountId, AppId } from '#kernel/ids.ts';

/** An app with the role that one of its members has. */
export interface MembershipRow extends OwnAppRow {
  readonly role: AppRole;
}

const MEMBERSHIP = `${OWN_APP_COLUMNS}, role from accounts.apps join accounts.members m using (app_id)`;

/** Finds an app together with the account's role in it. Undefined when the account is no member, or there is no such app (AU-06). */
export async function selectMembership(
  db: Queryable,
  accountId: AccountId,
  appId: AppId,
): Promise<MembershipRow | undefined> {
  const { rows } = await db.query<MembershipRow>(`select ${MEMBERSHIP} where m.account_id = $1 and app_id = $2`, [
    accountId,
    appId,
  ]);
  return rows[0];
}

/** Lists the apps of which the account is a member, oldest first. */
export async function selectMemberships(db: Queryable, accountId: AccountId): Promise<readonly MembershipRow[]> {
  const { rows } = await db.query<MembershipRow>(
    `select ${MEMBERSHIP} where m.account_id = $1 order by created_at, app_id`,
    [accountId],
  );
  return rows;
}
