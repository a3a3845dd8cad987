import { type AccountRow, selectAccountById } from '#developers/accounts/queries.ts';
import { deleteOtherSessions } from '#developers/sessions/queries.ts';
import type { SendNews } from '#developers/accounts/news.ts';
import { deleteFactors } from '#developers/factors/queries.ts';
import { lockAccount, updateAccount } from '#developers/operators/queries.ts';
import { deletePendingSignIns } from '#developers/sessions/pending-sign-in-queries.ts';
import type { OpenSsoSession, SignInPlace } from '#developers/sessions/open-session.ts';
import type { SignedIn, SignIn } from '#developers/sessions/session.ts';
import type { SsoPerson } from '#developers/sso/claims.ts';
import { insertSsoAccount, lockSsoAccount, updateSsoProof, updateToSso } from '#developers/sso/queries.ts';
import type { SsoSettings } from '#developers/sso/settings.ts';
import { ownersEntry } from '#audit/entry.ts';
import { insertAuditEntry } from '#audit/queries.ts';
import type { Queryable } from '#db/pool/pool.ts';
import { newAccountId } from '#kernel/values/ids.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';

/** A person whom the provider has signed in, and what letting them in takes. */
interface Entering {
  readonly person: SsoPerson;
  readonly place: SignInPlace;
  readonly settings: SsoSettings;
  readonly open: OpenSsoSession;
  readonly sendNews: SendNews;
}

type NotLetIn = Refusal<'FORBIDDEN' | 'CONFLICT' | 'BAD_REQUEST'>;

/** Signs in. The first time it makes the account, and each time the role follows the claim. */
export async function signInBySso(tx: Queryable, entering: Entering): Promise<SignIn | NotLetIn> {
  const { person, place, open } = entering;
  const known = await lockSsoAccount(tx, person);
  const row = known === undefined ? await join(tx, entering) : await followClaim(tx, entering, known);
  if (row instanceof Refusal) return row;
  return (await open(tx, row, person, place)) ?? disabled();
}

/** Renews the proof of a session. If the role is gone, every session ends. */
export async function proveBySso(
  tx: Queryable,
  entering: Entering,
  { account, session }: SignedIn,
): Promise<'proved' | NotLetIn> {
  const { person, settings } = entering;
  const known = await lockSsoAccount(tx, person);
  if (known?.account_id !== account.accountId) {
    return refuse('FORBIDDEN', `You signed in to ${settings.name} as somebody else. Sign in as ${account.email}.`);
  }
  if (person.role === undefined) return leave(tx, entering, known);
  if (person.authTimeMs === undefined) return noAuthTime(settings);
  await updateSsoProof(tx, session.sessionId, person.authTimeMs);
  return 'proved';
}

/**
 * Gives the account of the session to the person at the provider. Its password and second factor go, and every session of it ends.
 * The e-mails must be the same, so that nobody gets a stranger's account by mistake.
 */
export async function linkSso(
  tx: Queryable,
  entering: Entering,
  { account, isProved }: SignedIn,
): Promise<SignIn | NotLetIn> {
  const { person, place, settings, open, sendNews } = entering;
  const { accountId, email } = account;
  if (!isProved) return refuse('FORBIDDEN', 'The sign-in took longer than ten minutes. Start again.');
  if (person.role === undefined) return noRole(settings);
  if (person.email === undefined) return unverified(settings);
  if (person.email !== email) {
    return refuse('CONFLICT', `${settings.name} knows you by another e-mail than \`${email}\`. Both must be the same.`);
  }
  const another = refuse('CONFLICT', `You have an account that signs in through ${settings.name} already.`);
  if ((await lockSsoAccount(tx, person)) !== undefined) return another;
  await lockAccount(tx, accountId);
  if (!(await updateToSso(tx, accountId, person))) return another;
  await deleteFactors(tx, accountId);
  await deletePendingSignIns(tx, accountId);
  const actor = { accountId, email, from: place.from };
  await insertAuditEntry(tx, ownersEntry(actor, { action: 'account.sso-link', subject: accountId }));
  await sendNews(tx, email, { kind: 'sso-linked' });
  const linked = await selectAccountById(tx, accountId);
  const row = linked === undefined ? disabled() : await followClaim(tx, entering, linked);
  if (row instanceof Refusal) return row;
  await deleteOtherSessions(tx, accountId, undefined);
  return (await open(tx, row, person, place)) ?? disabled();
}

/** Makes the account of somebody who is here for the first time. An account that has their e-mail already stays its holder's. */
async function join(tx: Queryable, { person, place, settings }: Entering): Promise<AccountRow | NotLetIn> {
  const { role, email } = person;
  if (role === undefined) return noRole(settings);
  if (email === undefined) return unverified(settings);
  const accountId = newAccountId();
  const row = await insertSsoAccount(tx, { ...person, accountId, email, role });
  if (row !== undefined) {
    const act = { action: 'account.sso-join', subject: accountId, after: { email, operatorRole: role } };
    await insertAuditEntry(tx, ownersEntry({ accountId, email, from: place.from }, act));
    return row;
  }
  // Two first sign-ins at once: the other one made the account.
  const made = await lockSsoAccount(tx, person);
  return made ?? taken(settings, email);
}

/** Makes the role of an account what the claim says now. Another role ends its sessions, and so does none. */
async function followClaim(tx: Queryable, entering: Entering, row: AccountRow): Promise<AccountRow | NotLetIn> {
  const { person, place, settings } = entering;
  if (row.is_disabled) return disabled();
  if (person.role === undefined) return leave(tx, entering, row);
  if (person.email === undefined) return unverified(settings);
  if (row.operator_role === person.role) return row;
  return (await changeRole(tx, row, person.role, place.from)) ?? disabled();
}

/** The role is gone: every session ends, and nobody gets in until the provider gives them one again. */
async function leave(tx: Queryable, { place, settings }: Entering, row: AccountRow): Promise<NotLetIn> {
  if (row.operator_role === null) await deleteOtherSessions(tx, row.account_id, undefined);
  else await changeRole(tx, row, null, place.from);
  return noRole(settings);
}

async function changeRole(
  tx: Queryable,
  row: AccountRow,
  operatorRole: SsoPerson['role'] | null,
  from: string,
): Promise<AccountRow | undefined> {
  const { account_id: accountId, email } = row;
  const role = operatorRole === null ? 'owner' : 'operator';
  const act = {
    action: 'account.sso-role',
    subject: accountId,
    before: { operatorRole: row.operator_role },
    after: { operatorRole },
  };
  await insertAuditEntry(tx, ownersEntry({ accountId, email, from }, act));
  return updateAccount(tx, accountId, { role, operatorRole: operatorRole ?? null, isDisabled: row.is_disabled });
}

function noRole({ name, roleClaim }: SsoSettings): NotLetIn {
  return refuse(
    'FORBIDDEN',
    `${name} knows you, and gives you no role here. Ask the people who run it: the claim \`${roleClaim}\` must have one of the values in the settings of this service.`,
  );
}

function unverified({ name }: SsoSettings): NotLetIn {
  return refuse(
    'FORBIDDEN',
    `${name} has not verified your e-mail: it must send \`email\` and \`email_verified: true\`. Ask the people who run it.`,
  );
}

function taken({ name }: SsoSettings, email: string): NotLetIn {
  return refuse(
    'CONFLICT',
    `An account with the e-mail \`${email}\` exists here and does not sign in through ${name}. If it is yours, sign in with its password and link it at \`/account/sso\`.`,
  );
}

function noAuthTime({ name }: SsoSettings): NotLetIn {
  return refuse('FORBIDDEN', `${name} does not say when you signed in (\`auth_time\`), so it proves nothing.`);
}

function disabled(): NotLetIn {
  return refuse('FORBIDDEN', 'This account is disabled. Ask an admin of the service.');
}
