import type { AppRole } from '@purser/contract/access.ts';
import { OWN_APP_COLUMNS, type OwnAppRow } from '#developers/apps/queries.ts';
import { emailsOf, type Queryable, withEmail } from '#db/pool/pool.ts';
import { WAITING } from '#db/processes/queries.ts';
import type { AccountId, AppId } from '#kernel/values/ids.ts';

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

/** Locks the team of an app until the transaction ends, so that its members change one after the other. */
export async function lockTeam(tx: Queryable, appId: AppId): Promise<void> {
  await tx.query(`select from accounts.apps where app_id = $1 and ${WAITING} for no key update`, [appId]);
}

export interface MemberRow {
  readonly account_id: AccountId;
  readonly email: string;
  readonly name: string | null;
  readonly role: AppRole;
  readonly is_disabled: boolean;
  readonly since: Date;
}

/** Lists the members of an app, the longest there first. */
export async function selectMembers(db: Queryable, appId: AppId): Promise<readonly MemberRow[]> {
  const { rows } = await db.query<MemberRow>(
    `select m.account_id, a.email, a.name, m.role, a.is_disabled, m.since
     from accounts.members m join accounts.accounts a using (account_id)
     where m.app_id = $1 order by m.since, m.account_id`,
    [appId],
  );
  return rows.map((row) => withEmail(db, row));
}

/** Adds a member. False when the account is one already. */
export async function insertMember(
  tx: Queryable,
  member: { readonly appId: AppId; readonly accountId: AccountId; readonly role: AppRole },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into accounts.members (app_id, account_id, role) values ($1, $2, $3) on conflict do nothing`,
    [member.appId, member.accountId, member.role],
  );
  return rowCount === 1;
}

export async function updateMember(tx: Queryable, appId: AppId, accountId: AccountId, role: AppRole): Promise<void> {
  await tx.query('update accounts.members set role = $3 where app_id = $1 and account_id = $2', [
    appId,
    accountId,
    role,
  ]);
}

export async function deleteMember(tx: Queryable, appId: AppId, accountId: AccountId): Promise<void> {
  await tx.query('delete from accounts.members where app_id = $1 and account_id = $2', [appId, accountId]);
}

/** Deletes the invitations that somebody sent who may invite no longer: they could lead back in. */
export async function deleteInvitationsBy(tx: Queryable, appId: AppId, accountId: AccountId): Promise<void> {
  await tx.query('delete from accounts.invitations where app_id = $1 and invited_by = $2', [appId, accountId]);
}

export interface InvitationRow {
  readonly invitation_id: string;
  readonly app_id: AppId;
  readonly email: string;
  readonly role: AppRole;
  readonly created_at: Date;
  readonly expires_at: Date;
}

const INVITATION = 'invitation_id, app_id, email, role, created_at, expires_at';

/** Lists the invitations of an app that can still be used, oldest first. */
export async function selectInvitations(db: Queryable, appId: AppId): Promise<readonly InvitationRow[]> {
  const { rows } = await db.query<InvitationRow>(
    `select ${INVITATION} from accounts.invitations
     where app_id = $1 and expires_at > clock_timestamp() order by created_at, invitation_id`,
    [appId],
  );
  return rows.map((row) => withEmail(db, row));
}

/** Stores an invitation in place of any earlier one for the same address. */
export async function upsertInvitation(
  tx: Queryable,
  invitation: {
    readonly invitationId: string;
    readonly appId: AppId;
    readonly email: string;
    readonly role: AppRole;
    readonly digest: Buffer;
    readonly invitedBy: AccountId;
    readonly lifetimeMs: number;
  },
): Promise<InvitationRow> {
  const { invitationId, appId, email, role, digest, invitedBy, lifetimeMs } = invitation;
  const { rows } = await tx.query<InvitationRow>(
    `insert into accounts.invitations as i (invitation_id, app_id, email, role, digest, invited_by, expires_at)
     values ($1, $2, $3, $4, $5, $6, clock_timestamp() + $7 * interval '1 millisecond')
     on conflict (app_id, email) do update set invitation_id = excluded.invitation_id, role = excluded.role,
       digest = excluded.digest, invited_by = excluded.invited_by, created_at = clock_timestamp(),
       expires_at = excluded.expires_at
     returning ${INVITATION}`,
    [invitationId, appId, emailsOf(tx).seal(email), role, digest, invitedBy, lifetimeMs],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('The invitation could not be stored.');
  return withEmail(tx, row);
}

/** Deletes an invitation. Undefined when the app has no such invitation. */
export async function deleteInvitation(tx: Queryable, appId: AppId, id: string): Promise<InvitationRow | undefined> {
  const { rows } = await tx.query<InvitationRow>(
    `delete from accounts.invitations where app_id = $1 and invitation_id = $2 returning ${INVITATION}`,
    [appId, id],
  );
  return rows[0] && withEmail(tx, rows[0]);
}

/** The invitation of a token, with the name of its app. Undefined when it is unknown, used, withdrawn or expired. */
export async function selectInvitation(
  db: Queryable,
  digest: Buffer,
): Promise<(InvitationRow & { readonly app_name: string }) | undefined> {
  const { rows } = await db.query<InvitationRow & { readonly app_name: string }>(
    `select i.invitation_id, app_id, i.email, i.role, i.created_at, i.expires_at, a.name as app_name
     from accounts.invitations i join accounts.apps a using (app_id)
     where i.digest = $1 and i.expires_at > clock_timestamp()`,
    [digest],
  );
  return rows[0] && withEmail(db, rows[0]);
}

/** Uses up an invitation. Of two requests with the same token, one gets the row. */
export async function takeInvitation(tx: Queryable, digest: Buffer): Promise<InvitationRow | undefined> {
  const { rows } = await tx.query<InvitationRow>(
    `delete from accounts.invitations where digest = $1 and expires_at > clock_timestamp() returning ${INVITATION}`,
    [digest],
  );
  return rows[0] && withEmail(tx, rows[0]);
}

/** Deletes expired invitations, at most `rowsMax`. */
export async function deleteExpiredInvitations(db: Queryable, rowsMax: number): Promise<void> {
  await db.query(
    `delete from accounts.invitations where invitation_id in
       (select invitation_id from accounts.invitations where expires_at < clock_timestamp() limit $1)`,
    [rowsMax],
  );
}
