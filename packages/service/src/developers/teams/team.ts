import type { AppRole } from '@purser/contract/access.ts';
import { normalisedEmail } from '#developers/accounts/email.ts';
import type { SignedIn } from '#developers/sessions/session.ts';
import {
  deleteInvitation,
  deleteInvitationsBy,
  deleteMember,
  type InvitationRow,
  insertMember,
  lockTeam,
  type MemberRow,
  selectInvitation,
  selectInvitations,
  selectMembers,
  selectMemberships,
  takeInvitation,
  updateMember,
  upsertInvitation,
} from '#developers/teams/queries.ts';
import { deleteTestTokensBy } from '#developers/teams/test-token-queries.ts';
import { isVerified } from '#developers/accounts/queries.ts';
import { type Owner, ownersEntry } from '#audit/entry.ts';
import { insertAuditEntry } from '#audit/queries.ts';
import { inTransaction, type Pool, type Queryable } from '#db/pool/pool.ts';
import { sha256 } from '#kernel/crypto/crypto.ts';
import { type AccountId, type AppId, newInvitationId } from '#kernel/values/ids.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { AttemptLimiter } from '#limits/attempt-limiter.ts';

/** One person who may use an app's console and routes. */
export interface Member {
  readonly accountId: AccountId;
  readonly email: string;
  readonly name: string | undefined;
  readonly role: AppRole;
  readonly sinceMs: number;
}

/** An invitation that was mailed and not used yet. */
export interface Invitation {
  readonly invitationId: string;
  readonly email: string;
  readonly role: AppRole;
  readonly expiresAtMs: number;
}

/** The members of apps and invitations to become one. The caller has checked the role of the person who acts. */
export interface Teams {
  readonly list: (
    appId: AppId,
  ) => Promise<{ readonly members: readonly Member[]; readonly invitations: readonly Invitation[] }>;
  /** Mails an invitation, which works once within seven days. It replaces any earlier one for the address. */
  readonly invite: (
    owner: Owner,
    app: { readonly appId: AppId; readonly name: string },
    invited: { readonly email: string; readonly role: AppRole },
  ) => Promise<Invitation | Refusal<'CONFLICT' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS'>>;
  /** Makes the link in the mail void. False when there is no such invitation. */
  readonly withdraw: (owner: Owner, appId: AppId, invitationId: string) => Promise<boolean>;
  /** What a token invites to, for the page that asks. Undefined when it no longer works. */
  readonly read: (token: string) => Promise<(Invitation & { readonly appName: string }) | undefined>;
  /** Makes the signed-in account a member. Its e-mail must be the invited one, and verified. */
  readonly accept: (
    signedIn: SignedIn,
    token: string,
    from: string,
  ) => Promise<{ readonly appId: AppId } | Refusal<'BAD_REQUEST' | 'FORBIDDEN' | 'CONFLICT'>>;
  /** Changes the role of a member. Gives undefined when the account is no member, and refuses for the last owner. */
  readonly changeRole: (
    owner: Owner,
    appId: AppId,
    change: { readonly accountId: AccountId; readonly role: AppRole },
  ) => Promise<Member | Refusal<'CONFLICT' | 'FORBIDDEN'> | undefined>;
  /** Removes a member, or lets one leave. They lose access with their next request. Refused for the last owner. */
  readonly remove: (
    owner: Owner,
    appId: AppId,
    accountId: AccountId,
  ) => Promise<boolean | Refusal<'CONFLICT' | 'FORBIDDEN'>>;
}

interface TeamsOptions {
  readonly pool: Pool;
  readonly attempts: AttemptLimiter;
  readonly sendInvitation: (
    tx: Queryable,
    email: string,
    invitation: { readonly appName: string; readonly by: string; readonly role: AppRole; readonly token: string },
  ) => Promise<void>;
}

const MEMBERS_MAX = 50;
const TEAMS_MAX = 150;
const LIFETIME_MS = 7 * 24 * 60 * 60 * 1_000;
const TOKEN_LENGTH = 43; // 256 bits.
const FULL = `An app has at most ${MEMBERS_MAX} members and invitations. Remove one first.`;
const NO_OWNER = 'You are no longer an owner of this app.';
const LAST_OWNER = 'An app keeps at least one owner who can sign in. Make somebody else an owner first.';

export function createTeams(options: TeamsOptions): Teams {
  const { pool } = options;
  return {
    list: async (appId) => ({
      members: (await selectMembers(pool, appId)).map(memberOf),
      invitations: (await selectInvitations(pool, appId)).map(invitationOf),
    }),
    invite: createInvite(options),
    withdraw: (owner, appId, invitationId) =>
      inTransaction(pool, async (tx) => {
        const gone = await deleteInvitation(tx, appId, invitationId);
        if (gone === undefined) return false;
        const act = { action: 'team.withdraw', subject: invitationId, appId, before: factsOf(gone) };
        await insertAuditEntry(tx, ownersEntry(owner, act));
        return true;
      }),
    read: async (token) => {
      const row = await selectInvitation(pool, sha256(token));
      return row && { ...invitationOf(row), appName: row.app_name };
    },
    accept: createAccept(options),
    ...createMemberActs(options),
  };
}

function createInvite({ pool, attempts, sendInvitation }: TeamsOptions): Teams['invite'] {
  return async (owner, { appId, name }, { email, role }) => {
    const address = normalisedEmail(email);
    const tooMany = await attempts.take([
      { kind: 'invite', of: owner.accountId },
      { kind: 'invite-to', of: address },
    ]);
    if (tooMany !== undefined) return tooMany;
    const token = randomBase62(TOKEN_LENGTH);
    return inTransaction(pool, async (tx) => {
      await lockTeam(tx, appId);
      const members = await selectMembers(tx, appId);
      if (!isOwner(members, owner.accountId)) return refuse('FORBIDDEN', NO_OWNER);
      if (members.some((member) => member.email === address)) {
        return refuse('CONFLICT', 'This e-mail belongs to a member of the app already. Change their role instead.');
      }
      const others = (await selectInvitations(tx, appId)).filter((one) => one.email !== address);
      if (members.length + others.length >= MEMBERS_MAX) return refuse('CONFLICT', FULL);
      const invitationId = newInvitationId();
      const digest = sha256(token);
      const invited = { invitationId, appId, email: address, role, digest, lifetimeMs: LIFETIME_MS };
      const row = await upsertInvitation(tx, { ...invited, invitedBy: owner.accountId });
      const act = { action: 'team.invite', subject: invitationId, appId, after: factsOf(row) };
      await insertAuditEntry(tx, ownersEntry(owner, act));
      await sendInvitation(tx, address, { appName: name, by: owner.email, role, token });
      return invitationOf(row);
    });
  };
}

function createAccept({ pool }: TeamsOptions): Teams['accept'] {
  return async ({ account }, token, from) => {
    const { accountId, email } = account;
    const digest = sha256(token);
    const invitation = await selectInvitation(pool, digest);
    if (invitation === undefined) return voidInvitation();
    // The link alone is not enough: a mail that was forwarded must not let somebody else in.
    if (invitation.email !== email) {
      return refuse('FORBIDDEN', 'This invitation is for another e-mail. Sign in with the account that has it.');
    }
    if (!(await isVerified(pool, accountId))) {
      return refuse('FORBIDDEN', 'Verify the e-mail of your account first, then open the invitation again.');
    }
    if ((await selectMemberships(pool, accountId)).length >= TEAMS_MAX) {
      return refuse('CONFLICT', `An account is a member of at most ${TEAMS_MAX} apps. Leave one first.`);
    }
    const { app_id: appId } = invitation;
    return inTransaction(pool, async (tx) => {
      await lockTeam(tx, appId);
      const taken = await takeInvitation(tx, digest);
      if (taken === undefined) return voidInvitation();
      if (await insertMember(tx, { appId, accountId, role: taken.role })) {
        const act = { action: 'team.join', subject: accountId, appId, after: { role: taken.role } };
        await insertAuditEntry(tx, ownersEntry({ accountId, email, from }, act));
      }
      return { appId };
    });
  };
}

function createMemberActs({ pool }: TeamsOptions): Pick<Teams, 'changeRole' | 'remove'> {
  return {
    changeRole: (owner, appId, { accountId, role }) =>
      inTransaction(pool, async (tx) => {
        const found = await findToChange(tx, appId, { by: owner.accountId, accountId, role });
        if (found === undefined || found instanceof Refusal) return found;
        if (found.role === role) return memberOf(found);
        await updateMember(tx, appId, accountId, role);
        if (role !== 'owner') await deleteMadeBy(tx, appId, accountId);
        const facts = { before: { role: found.role }, after: { role, email: found.email } };
        await insertAuditEntry(tx, ownersEntry(owner, { action: 'team.role', subject: accountId, appId, ...facts }));
        return memberOf({ ...found, role });
      }),
    remove: (owner, appId, accountId) =>
      inTransaction(pool, async (tx) => {
        const found = await findToChange(tx, appId, { by: owner.accountId, accountId, role: undefined });
        if (found === undefined) return false;
        if (found instanceof Refusal) return found;
        await deleteMember(tx, appId, accountId);
        await deleteMadeBy(tx, appId, accountId);
        const action = owner.accountId === accountId ? 'team.leave' : 'team.remove';
        const act = { action, subject: accountId, appId, before: { role: found.role, email: found.email } };
        await insertAuditEntry(tx, ownersEntry(owner, act));
        return true;
      }),
  };
}

/**
 * The member who is to get another role, or none. Refused if no owner who can sign in would be left. The lock makes two such acts
 * at once wait for each other: otherwise two owners could remove one another.
 */
async function findToChange(
  tx: Queryable,
  appId: AppId,
  {
    by,
    accountId,
    role,
  }: { readonly by: AccountId; readonly accountId: AccountId; readonly role: AppRole | undefined },
): Promise<MemberRow | Refusal<'CONFLICT' | 'FORBIDDEN'> | undefined> {
  await lockTeam(tx, appId);
  const members = await selectMembers(tx, appId);
  if (by !== accountId && !isOwner(members, by)) return refuse('FORBIDDEN', NO_OWNER);
  const found = members.find((member) => member.account_id === accountId);
  if (found === undefined || found.role !== 'owner' || role === 'owner') return found;
  const isKept = members.some((one) => one.role === 'owner' && !one.is_disabled && one.account_id !== accountId);
  return isKept ? found : refuse('CONFLICT', LAST_OWNER);
}

/**
 * Asks again under the lock, because the role that the caller checked may have been taken away while the request waited
 * for it.
 */
function isOwner(members: readonly MemberRow[], accountId: AccountId): boolean {
  return members.some((one) => one.account_id === accountId && one.role === 'owner');
}

function memberOf({ account_id: accountId, email, name, role, since }: MemberRow): Member {
  return { accountId, email, name: name ?? undefined, role, sinceMs: since.getTime() };
}

function invitationOf({ invitation_id: invitationId, email, role, expires_at: expiresAt }: InvitationRow): Invitation {
  return { invitationId, email, role, expiresAtMs: expiresAt.getTime() };
}

function factsOf({ email, role }: InvitationRow) {
  return { email, role };
}

/** One answer for unknown, used, withdrawn and expired invitations. */
function voidInvitation(): Refusal<'BAD_REQUEST'> {
  const message = 'This invitation no longer works. It was used, withdrawn, or has expired. Ask for another.';
  return refuse('BAD_REQUEST', message, { param: 'token' });
}

/** Deletes what only an owner may make: it ends with their ownership, and does not come back with it. */
async function deleteMadeBy(tx: Queryable, appId: AppId, accountId: AccountId): Promise<void> {
  await deleteInvitationsBy(tx, appId, accountId);
  await deleteTestTokensBy(tx, appId, accountId);
}
