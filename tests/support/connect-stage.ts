import assert from 'node:assert/strict';
import { redirectName } from '../../packages/service/src/connections/link.ts';
import type { EndUserId } from '../../packages/service/src/kernel/values/ids.ts';
import { type Reply, send } from './client.ts';
import { connectionsOf } from './connections.ts';
import { newOwnApp, newOwner } from './control.ts';
import { assertPage, type Browser } from './page.ts';
import { setStage } from './stage.ts';

const TABLES = [
  'accounts.apps',
  'identities.identities',
  'connections.connections',
  'ledger.wallets',
  'ledger.entries',
  'audit.entries',
  'webhooks.events',
  'mail.messages',
];

/** An app that may send its users to the connect page, and the links that lead there. */
export async function setConnectStage() {
  const generous = { PURSER_RATE_PER_MINUTE: '1000000', PURSER_RATE_BURST: '1000000' };
  const stage = await setStage({ environment: generous });
  const { service, linksOf } = stage;
  const owner = await newOwner(service);
  return {
    ...stage,
    owner,
    connections: connectionsOf(service.database),
    /** A new app of the owner. Links lead back to the first of its addresses. */
    newConnectApp: async (name = 'Notes', redirectUris: readonly string[] = ['https://app.test/back']) => {
      const app = await newOwnApp(owner);
      const change = (fields: Readonly<Record<string, unknown>>) =>
        owner.get(200, 'PATCH', `/apps/${app.appId}`, fields);
      await change({ name, redirectUris });
      const [redirectUri = ''] = redirectUris;
      const ask = (user: string, fields?: Readonly<Record<string, unknown>>, key = app.liveKey) =>
        send('/connect', { url: service.url, key, user, body: { redirectUri, ...fields } });
      return {
        ...app,
        name,
        redirectUri,
        change,
        ask,
        /** The path of the link for a user. */
        linkFor: async (user: string, fields?: Readonly<Record<string, unknown>>) => {
          const reply = await ask(user, fields);
          assert.equal(reply.status, 200, reply.text);
          return new URL(String(reply.body['connectUrl'])).pathname;
        },
        /** A link that the service issued the given number of seconds ago. */
        oldLinkFor: (user: string, secondsAgo: number, appId = app.appId) => {
          const subject = { appId, userId: user as EndUserId, redirect: redirectName(redirectUri) };
          const { url } = linksOf(secondsAgo).connect({ ...subject, state: undefined, userLabel: undefined });
          return new URL(url).pathname;
        },
      };
    },
    /** All rows that opening, consenting and paying could write. */
    everything: async () => {
      const texts = TABLES.map(
        (table) => `(select coalesce(string_agg(t::text, E'\\n' order by t::text), '') from ${table} t)`,
      );
      const { rows } = await service.database.owner.query<{ all: string }>(
        `select concat_ws(E'\\n', ${texts.join(', ')}) as all`,
      );
      return rows[0]?.all ?? '';
    },
  };
}

/** The fields that a user fills in to agree. */
export const CONSENT = { cap: '20', 'other-cap': '', own: 'yes' } as const;

let people = 0;

/** A person that no other test uses, and their account at the app. */
export function newConnectPerson(): { readonly email: string; readonly user: string } {
  people += 1;
  return { email: `connect-${people}@example.test`, user: `user-${people}` };
}

/** Opens the link, agrees, and shows the next page. */
export async function consent(
  browser: Browser,
  link: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  assertPage(await browser.open(link), 200);
  return browser.submit(`${link}/consent`, { ...CONSENT, ...fields });
}

/** The link that consent leads on with. */
export async function consentAndGoOn(
  browser: Browser,
  link: string,
  fields?: Readonly<Record<string, string>>,
): Promise<string> {
  assertPage(await browser.open(link), 200);
  const reply = await browser.ask(`${link}/consent`, {
    form: { ...browser.fieldsOf(`${link}/consent`), ...CONSENT, ...fields },
  });
  assertPage(reply, 303);
  const path = /^(\/connect\/[A-Za-z0-9_-]+)\/topup$/.exec(reply.headers.get('location') ?? '')?.[1];
  assert.ok(path !== undefined, String(reply.headers.get('location')));
  return path;
}
