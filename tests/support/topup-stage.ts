import type { Connection } from '../../packages/service/src/connections/connection.ts';
import { createLinks, type Links } from '../../packages/service/src/connections/link.ts';
import type { Identity } from '../../packages/service/src/identities/session.ts';
import type { EndUserId } from '../../packages/service/src/kernel/ids.ts';
import { micros } from '../../packages/service/src/kernel/micros.ts';
import type { Browser } from './browser.ts';
import { chat, type Reply } from './client.ts';
import { connectionsOf, type TestConnections } from './connections.ts';
import { browserOf } from './people.ts';
import { completionBody } from './scripted-upstream.ts';
import type { TestApp, TestService } from './service.ts';
import { keysOf } from './keys.ts';
import { setStage } from './stage.ts';

/** A person with a connected wallet, and their browser. */
interface WalletOwner {
  readonly user: string;
  readonly email: string;
  readonly identity: Identity;
  readonly connection: Connection;
  readonly browser: Browser;
}

/** A service whose calls cost about two units, people with wallets, and links to pay into them. It ends with the file. */
export interface TopupStage {
  /** The service's secret, for other gateways on its database. */
  readonly secret: string;
  readonly service: TestService;
  readonly app: TestApp;
  readonly connections: TestConnections;
  readonly newPerson: (amount?: number, cap?: number) => Promise<WalletOwner>;
  /** The path of a new link, as a refused call gives it. */
  readonly linkFor: (user: string, hold?: bigint, purpose?: 'topup' | 'cap') => string;
  /** The service's own links, as of the given number of milliseconds ago. */
  readonly linksOf: (agoMs: number, secret?: string) => Links;
  /** The books must be right. */
  readonly balanceOf: (user: string) => Promise<number>;
  readonly call: (user: string) => Promise<Reply>;
}

const SECRET = 'a secret of this test, of which there are enough bytes';
const PRICE = { inputMicrosPerMillion: 3_000_000_000, outputMicrosPerMillion: 4_000_000 };
const USAGE = { prompt_tokens: 1, completion_tokens: 1 };

export async function setTopupStage(): Promise<TopupStage> {
  const { service, upstream, app } = await setStage({
    model: { price: PRICE },
    environment: { PURSER_SECRET: SECRET, PURSER_PROXY_HOPS: '1' },
  });
  upstream.script({ body: completionBody({ model: 'm', content: 'Hi', usage: USAGE }) });
  const connections = connectionsOf(service.database);
  let users = 0;

  const linksOf: TopupStage['linksOf'] = (agoMs, secret = SECRET) =>
    createLinks({
      keysOf: keysOf(secret).proof,
      publicUrl: 'https://purser.test',
      clock: { nowMs: () => Date.now() - agoMs },
    });
  return {
    secret: SECRET,
    service,
    app,
    connections,
    newPerson: async (amount = 0, cap) => {
      const user = `person-${(users += 1)}`;
      const email = `${user}@example.test`;
      const identity = await connections.newIdentity(email);
      await service.fund(app, user, amount);
      const connection = await connections.connect({ identity, appId: app.appId, user, cap });
      return { user, email, identity, connection, browser: await browserOf(service, email) };
    },
    linkFor: (user, hold, purpose = 'topup') => {
      const subject = { appId: app.appId, userId: user as EndUserId };
      return new URL(linksOf(0)[purpose](subject, hold === undefined ? undefined : micros(hold))).pathname;
    },
    linksOf,
    balanceOf: async (user) => {
      const [difference] = await service.check();
      if (difference !== undefined) throw new Error(`The books are wrong: ${JSON.stringify(difference, String)}`);
      return (await service.wallet(app, user)).balance;
    },
    call: (user) => chat({ url: service.url, key: app.liveKey, user }),
  };
}
