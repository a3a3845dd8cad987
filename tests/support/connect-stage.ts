import assert from 'node:assert/strict';
import { createLinks, redirectName } from '../../packages/service/src/connections/link.ts';
import type { AppId, EndUserId } from '../../packages/service/src/kernel/ids.ts';
import { systemClock } from '../../packages/service/src/kernel/clock.ts';
import { type Reply, send } from './client.ts';
import { connectionsOf, type TestConnections } from './connections.ts';
import { newOwnApp, newOwner, type Person } from './control.ts';
import { keysOf } from './keys.ts';
import { setStage, type Stage } from './stage.ts';
import type { TestApp } from './service.ts';

/** An app that may send its users to the connect page, and the links that lead there. */
export interface ConnectStage extends Stage {
  /** Of the service. */
  readonly secret: string;
  readonly owner: Person;
  readonly connections: TestConnections;
  /** A new app of the owner. Links lead back to the first of its addresses. */
  readonly newConnectApp: (name?: string, redirectUris?: readonly string[]) => Promise<ConnectApp>;
  /** All rows that opening, consenting and paying could write. */
  readonly everything: () => Promise<string>;
}

export interface ConnectApp extends TestApp {
  readonly name: string;
  readonly redirectUri: string;
  readonly ask: (user: string, fields?: Readonly<Record<string, unknown>>, key?: string) => Promise<Reply>;
  /** The path of the link for a user. */
  readonly linkFor: (user: string, fields?: Readonly<Record<string, unknown>>) => Promise<string>;
  /** A link that the service issued the given number of seconds ago. */
  readonly oldLinkFor: (user: string, secondsAgo: number, appId?: AppId) => string;
  readonly change: (fields: Readonly<Record<string, unknown>>) => Promise<unknown>;
}

const SECRET = 'a secret of the tests, which is long enough';
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

export async function setConnectStage(): Promise<ConnectStage> {
  const generous = { PURSER_RATE_PER_MINUTE: '1000000', PURSER_RATE_BURST: '1000000' };
  const stage = await setStage({ environment: { PURSER_SECRET: SECRET, ...generous } });
  const { service } = stage;
  const owner = await newOwner(service);
  const linksOf = (secondsAgo: number) =>
    createLinks({
      keysOf: keysOf(SECRET).proof,
      publicUrl: '',
      clock: { nowMs: () => systemClock.nowMs() - secondsAgo * 1_000 },
    });
  return {
    ...stage,
    secret: SECRET,
    owner,
    connections: connectionsOf(service.database),
    newConnectApp: async (name = 'Notes', redirectUris = ['https://app.test/back']) => {
      const app = await newOwnApp(owner);
      const change: ConnectApp['change'] = (fields) => owner.get(200, 'PATCH', `/apps/${app.appId}`, fields);
      await change({ name, redirectUris });
      const [redirectUri = ''] = redirectUris;
      const ask: ConnectApp['ask'] = (user, fields, key = app.liveKey) =>
        send('/connect', { url: service.url, key, user, body: { redirectUri, ...fields } });
      return {
        ...app,
        name,
        redirectUri,
        change,
        ask,
        linkFor: async (user, fields) => {
          const reply = await ask(user, fields);
          assert.equal(reply.status, 200, reply.text);
          return new URL(String(reply.body['connectUrl'])).pathname;
        },
        oldLinkFor: (user, secondsAgo, appId = app.appId) => {
          const subject = { appId, userId: user as EndUserId, redirect: redirectName(redirectUri) };
          return linksOf(secondsAgo).connect({ ...subject, state: undefined, userLabel: undefined }).url;
        },
      };
    },
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
