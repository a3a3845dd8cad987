import assert from 'node:assert/strict';
import type { Email } from '../../packages/service/src/people/email.ts';
import { createPersonSessions, type Identity } from '../../packages/service/src/people/session.ts';
import type { ConnectionId, IdentityId } from '../../packages/service/src/kernel/values/ids.ts';
import type { Reply } from './client.ts';
import { connectionsOf } from './connections.ts';
import { mailTo } from './control.ts';
import { assertPage, type Browser, mainOf, openBrowser } from './page.ts';
import type { TestApp, TestService } from './service.ts';
import type { Stage } from './stage.ts';

/** The cookie that signs a browser in as a person. */
export const PERSON_COOKIE = '__Host-purser-person';

/** A browser in which a person has signed in through the pages with a code from a mail. It shows the page after that. */
export async function signedInPerson(service: TestService, email: string, then = '/wallet'): Promise<Browser> {
  const browser = openBrowser(service.url);
  await browser.open(`/wallet/sign-in?then=${encodeURIComponent(then)}`);
  await browser.submit('/wallet/sign-in', { email });
  const { token: code } = await mailTo(service, email);
  await browser.submit('/wallet/code', { code });
  assert.ok(browser.cookies.has(PERSON_COOKIE), mainOf(browser.page()));
  return browser;
}

/** A browser that is signed in without mail or pages, for tests with more people than one address may sign in. */
export async function browserOf({ url, database }: TestService, email: string): Promise<Browser> {
  const browser = openBrowser(url);
  const { token } = await createPersonSessions(database.owner).open(email as Email);
  browser.cookies.set(PERSON_COOKIE, token);
  return browser;
}

let addresses = 0;

/** Submits the form of the page from an address that nobody else has, without following redirects. */
export function submitFrom(browser: Browser, action: string, fields: Readonly<Record<string, string>>): Promise<Reply> {
  const headers = { 'x-forwarded-for': `192.0.2.${(addresses += 1)}` };
  return browser.ask(action, { form: { ...browser.fieldsOf(action), ...fields }, headers });
}

/** A browser that has requested a code and shows the page to enter it, and the code. The service runs behind one proxy. */
export async function askForCode(
  service: TestService,
  email: string,
  then = '/wallet',
): Promise<{ readonly browser: Browser; readonly code: string }> {
  const browser = openBrowser(service.url);
  await browser.open(`/wallet/sign-in?then=${encodeURIComponent(then)}`);
  const reply = await submitFrom(browser, '/wallet/sign-in', { email });
  assertPage(await browser.open(reply.headers.get('location') ?? ''), 200, 'Enter the code');
  return { browser, code: (await mailTo(service, email)).token };
}

/** Whether the browser is signed in to the service. */
export async function isSignedIn(browser: Browser): Promise<boolean> {
  return (await browser.ask('/wallet/passkeys')).status === 200;
}

/** Returns eight digits that are not the code. */
export function otherCode(code: string, by = 1): string {
  return String((Number(code) + by) % 100_000_000).padStart(8, '0');
}

/** A person who owns wallets, with a browser in which they are signed in. */
export interface WalletOwner {
  readonly email: string;
  readonly identity: Identity;
  readonly identityId: IdentityId;
  readonly browser: Browser;
  /** Agrees that an app may spend. From then on the wallet is theirs, with what is in it. */
  readonly connect: (app: TestApp, user: string, options?: Agreed) => Promise<ConnectionId>;
}

interface Agreed {
  readonly userLabel?: string;
  readonly cap?: number | undefined;
  /** Whether the consent was given by a link that was made long after the wallet was released. */
  readonly isLater?: boolean;
}

let owners = 0;

/** This is called once by a test file. It returns a function that creates people. Other tests cover how they sign in. */
export function walletOwnersOf(service: TestService): () => Promise<WalletOwner> {
  return ownersOf(service, connectionsOf(service.database));
}

/** The same, also with a wallet at the app of the stage. */
export function peopleOf({ service, app, newUser }: Stage) {
  const connections = connectionsOf(service.database);
  const newWalletOwner = ownersOf(service, connections);
  return {
    connections,
    newWalletOwner,
    /** A person with one wallet, which has this balance and cap. */
    personWith: async (amount = 0, options: Agreed = {}) => {
      const person = await newWalletOwner();
      const user = await newUser(amount);
      const agreed = { userLabel: `label of ${person.email}`, ...options };
      return { ...person, user, connectionId: await person.connect(app, user, agreed) };
    },
  };
}

function ownersOf(service: TestService, connections: ReturnType<typeof connectionsOf>) {
  return async (): Promise<WalletOwner> => {
    const email = `wallet-owner-${(owners += 1)}@example.test`;
    const identity = await connections.newIdentity(email);
    return {
      email,
      identity,
      identityId: identity.identityId,
      browser: await browserOf(service, email),
      connect: async ({ appId }, user, agreed = {}) =>
        (await connections.connect({ identity, appId, user, ...agreed })).connectionId,
    };
  };
}
