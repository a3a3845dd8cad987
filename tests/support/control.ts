import assert from 'node:assert/strict';
import type { AppRole } from '../../packages/contract/src/access.ts';
import type { OperatorRole } from '../../packages/contract/src/operator-access.ts';
import { insertAccount, type Role } from '../../packages/service/src/developers/accounts/queries.ts';
import { hashing, hashPassword } from '../../packages/service/src/developers/sign-in/password.ts';
import { openSession } from '../../packages/service/src/developers/sessions/session.ts';
import { type AppId, type Mode, newAccountId } from '../../packages/service/src/kernel/values/ids.ts';
import { type Reply, send } from './client.ts';
import { mailsTo, sealedEmail, setAccount } from './database.ts';
import type { TestApp, TestService } from './service.ts';
import { sql } from './sql.ts';
import { waitUntil } from './wait-until.ts';

export const PASSWORD = 'correct horse battery';

/** At its real cost, a password takes 20 ms of processor time each time. `password.test.ts` has the real cost. */
hashing.cost = { memory: 8, passes: 1, parallelism: 1 };

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
 * A new account with a session, made by the functions of the product. Not through `POST /accounts` and `POST /sessions`: those
 * allow one address few accounts, and each costs ten statements.
 */
async function newAccount(
  { url, database }: Pick<TestService, 'url' | 'database'>,
  role: Role,
  operatorRole?: OperatorRole,
): Promise<Person & { readonly email: string }> {
  const email = `${role}-${(people += 1)}@example.test`;
  const passwordHash = await hashPassword(PASSWORD);
  const account = {
    accountId: newAccountId(),
    email,
    name: role === 'owner' ? 'Owner' : 'Operator',
    role,
    passwordHash,
  };
  await insertAccount(database.owner, { ...account, isVerified: true });
  if (operatorRole !== undefined) await setAccount(database.owner, email, `operator_role = '${operatorRole}'`);
  const opened = await openSession(database.owner, account);
  return { ...personWith(url, opened?.token), email };
}

/** A new account of a developer, signed in. */
export function newOwner(service: Pick<TestService, 'url' | 'database'>): Promise<Person & { readonly email: string }> {
  return newAccount(service, 'owner');
}

/** A new account, signed in, that is a member of the app in this role. */
export async function newMember(
  service: Pick<TestService, 'url' | 'database'>,
  appId: string,
  role: AppRole,
): ReturnType<typeof newOwner> {
  const member = await newOwner(service);
  await sql(service)`insert into accounts.members (app_id, account_id, role)
    select ${appId}, account_id, ${role} from accounts.accounts where email = ${sealedEmail(member.email)}`;
  return member;
}

/** A new operator, signed in: an admin, unless a role is named. */
export function newOperator(service: TestService, operatorRole: OperatorRole = 'admin'): Promise<Person> {
  return newAccount(service, 'operator', operatorRole);
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

/**
 * Stops refills: from now on no existing bucket of attempts refills, so that the duration of a test does not matter.
 */
export async function stopRefill({ database }: TestService): Promise<void> {
  const hour = 60 * 60 * 1_000_000;
  await sql(database)`update limits.buckets set refilled_at_us = refilled_at_us + ${hour} where app_id like '%:%'`;
}

/** The mail address of the account that is signed in. */
export async function emailOf(person: Person): Promise<string> {
  const { account } = (await person.get(200, 'GET', '/sessions/current')) as { account: { email: string } };
  return account.email;
}
