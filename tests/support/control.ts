import { sealedEmail, mailsTo } from './database.ts';
import assert from 'node:assert/strict';
import { argon2Sync, randomBytes } from 'node:crypto';
import type { AppRole } from '../../packages/contract/src/access.ts';
import type { OperatorRole } from '../../packages/contract/src/operator-access.ts';
import { insertAccount, type Role } from '../../packages/service/src/accounts/account-queries.ts';
import { ensureSignIn } from '../../packages/service/src/accounts/ensure-account.ts';
import { type AppId, type Mode, newAccountId } from '../../packages/service/src/kernel/ids.ts';
import { type Reply, send } from './client.ts';
import type { TestApp, TestService } from './service.ts';
import { waitUntil } from './wait-until.ts';

export const PASSWORD = 'correct horse battery';

/** A signed-in person, or nobody. */
export interface Person {
  readonly ask: (method: string, path: string, body?: unknown) => Promise<Reply>;
  /** The body of an answer that must have this status. */
  readonly get: (status: number, method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>;
  readonly token: string | undefined;
}

export function personWith(url: string, token: string | undefined): Person {
  const ask: Person['ask'] = (method, path, body) =>
    send(path, {
      url,
      method,
      ...(body === undefined ? {} : { body }),
      ...(token === undefined ? {} : { key: token }),
    });
  return {
    ask,
    get: async (status, ...request) => {
      const reply = await ask(...request);
      assert.equal(reply.status, status, `${request.join(' ')}: ${reply.text}`);
      return reply.body;
    },
    token,
  };
}

let people = 0;

export async function signIn({ url }: Pick<TestService, 'url'>, email: string, password = PASSWORD): Promise<Person> {
  const { sessionToken } = await personWith(url, undefined).get(200, 'POST', '/sessions', { email, password });
  return personWith(url, String(sessionToken));
}

/**
 * The hash of `PASSWORD` at the least cost. Accounts that only set a stage have it, because storing and checking a password
 * at its real cost takes 50 ms of processor time.
 */
const CHEAP_HASH = cheapHash();

function cheapHash(): string {
  const salt = randomBytes(16);
  const cost = { memory: 8, passes: 1, parallelism: 1, tagLength: 32 };
  const tag = argon2Sync('argon2id', { message: PASSWORD, nonce: salt, ...cost });
  const [nonce, hash] = [salt, tag].map((bytes) => bytes.toString('base64').replaceAll('=', ''));
  return `$argon2id$v=19$m=8,t=1,p=1$${nonce}$${hash}`;
}

/** Not through `POST /accounts`, which allows one address twenty accounts and then two a minute. */
async function insertPerson({ database }: Pick<TestService, 'database'>, role: Role): Promise<string> {
  const email = `${role}-${(people += 1)}@example.test`;
  const name = role === 'owner' ? 'Owner' : 'Operator';
  const account = { accountId: newAccountId(), email, name, role, passwordHash: CHEAP_HASH, isVerified: true };
  await insertAccount(database.owner, account);
  return email;
}

/** A new account, signed in. */
export async function newOwner(
  service: Pick<TestService, 'url' | 'database'>,
): Promise<Person & { readonly email: string }> {
  const email = await insertPerson(service, 'owner');
  return { ...(await signIn(service, email)), email };
}

/** A new account whose password the product has hashed, signed in. For tests of what is stored, and of what a check costs. */
export async function newHashedOwner(service: Pick<TestService, 'url' | 'database'>): ReturnType<typeof newOwner> {
  const email = `hashed-${(people += 1)}@example.test`;
  await ensureSignIn(service.database.owner, { email, password: PASSWORD, name: 'Owner', role: 'owner' });
  return { ...(await signIn(service, email)), email };
}

/** A new account, signed in, that is a member of the app in this role. */
export async function newMember(
  service: Pick<TestService, 'url' | 'database'>,
  appId: string,
  role: AppRole,
): ReturnType<typeof newOwner> {
  const member = await newOwner(service);
  await service.database.owner.query(
    `insert into accounts.members (app_id, account_id, role)
     select $1, account_id, $2 from accounts.accounts where email = $3`,
    [appId, role, sealedEmail(member.email)],
  );
  return member;
}

/** A new operator, signed in: an admin, unless a role is named. */
export async function newOperator(service: TestService, operatorRole: OperatorRole = 'admin'): Promise<Person> {
  const email = await insertPerson(service, 'operator');
  await service.database.owner.query('update accounts.accounts set operator_role = $2 where email = $1', [
    sealedEmail(email),
    operatorRole,
  ]);
  return signIn(service, email);
}

/** A new app of this person, with a key of each mode. */
export async function newOwnApp(person: Person, name = 'App'): Promise<TestApp> {
  const { appId } = (await person.get(201, 'POST', '/apps', { name })) as unknown as { appId: AppId };
  const keyOf = async (mode: Mode): Promise<string> =>
    String((await person.get(201, 'POST', `/apps/${appId}/keys`, { mode }))['apiKey']);
  return { appId, liveKey: await keyOf('live'), testKey: await keyOf('sandbox') };
}

/** The newest mail to this address: its text and the token in it. */
export async function mailTo({ database }: TestService, email: string): Promise<{ body: string; token: string }> {
  return waitUntil('the mail has arrived', async () => {
    const mails = await mailsTo(database.owner, email);
    const body = mails.findLast((mail) => /^ {4}\S/m.test(mail.body ?? ''))?.body ?? '';
    const token = /^ {4}(\S+)$/m.exec(body)?.[1];
    return token === undefined ? undefined : { body, token };
  });
}

/** From now on no existing bucket of attempts refills, so that the duration of a test does not matter. */
export async function stopRefill({ database }: TestService): Promise<void> {
  const hour = 60 * 60 * 1_000_000;
  await database.owner.query(`update limits.buckets set refilled_at_us = refilled_at_us + $1 where app_id like '%:%'`, [
    hour,
  ]);
}

/** The mail address of the account that is signed in. */
export async function emailOf(person: Person): Promise<string> {
  const { account } = (await person.get(200, 'GET', '/sessions/current')) as { account: { email: string } };
  return account.email;
}
