import { createLinks } from '../../packages/service/src/connections/link.ts';
import type { EndUserId } from '../../packages/service/src/kernel/ids.ts';
import { micros } from '../../packages/service/src/kernel/micros.ts';
import { chat } from './client.ts';
import { connectionsOf } from './connections.ts';
import { browserOf } from './people.ts';
import { completionBody } from './scripted-upstream.ts';
import { keysOf } from './keys.ts';
import { setStage } from './stage.ts';

const SECRET = 'a secret of this test, of which there are enough bytes';
const PRICE = { inputMicrosPerMillion: 3_000_000_000, outputMicrosPerMillion: 4_000_000 };
const USAGE = { prompt_tokens: 1, completion_tokens: 1 };

/** A service whose calls cost about two units, people with wallets, and links to pay into them. It ends with the file. */
export async function setTopupStage() {
  const { service, upstream, app } = await setStage({
    model: { price: PRICE },
    environment: { PURSER_SECRET: SECRET, PURSER_PROXY_HOPS: '1' },
  });
  upstream.script({ body: completionBody({ model: 'm', content: 'Hi', usage: USAGE }) });
  const connections = connectionsOf(service.database);
  let users = 0;

  const linksOf = (agoMs: number, secret: string = SECRET) =>
    createLinks({
      keysOf: keysOf(secret).proof,
      publicUrl: 'https://purser.test',
      clock: { nowMs: () => Date.now() - agoMs },
    });
  return {
    /** The service's secret, for other gateways on its database. */
    secret: SECRET,
    service,
    app,
    connections,
    newPerson: async (amount = 0, cap?: number) => {
      const user = `person-${(users += 1)}`;
      const email = `${user}@example.test`;
      const identity = await connections.newIdentity(email);
      await service.fund(app, user, amount);
      const connection = await connections.connect({ identity, appId: app.appId, user, cap });
      return { user, email, identity, connection, browser: await browserOf(service, email) };
    },
    /** The path of a new link, as a refused call gives it. */
    linkFor: (user: string, hold?: bigint, purpose: 'topup' | 'cap' = 'topup') => {
      const subject = { appId: app.appId, userId: user as EndUserId };
      return new URL(linksOf(0)[purpose](subject, hold === undefined ? undefined : micros(hold))).pathname;
    },
    /** The service's own links, as of the given number of milliseconds ago. */
    linksOf,
    /** The books must be right. */
    balanceOf: async (user: string) => {
      const [difference] = await service.check();
      if (difference !== undefined) throw new Error(`The books are wrong: ${JSON.stringify(difference, String)}`);
      return (await service.wallet(app, user)).balance;
    },
    call: (user: string) => chat({ url: service.url, key: app.liveKey, user }),
  };
}
