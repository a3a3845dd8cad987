import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { catalogueAt } from '../../support/catalogue.ts';
import { newOwner, newOwnApp } from '../../support/control.ts';
import { keepEmailKey } from '../../support/keys.ts';
import { createTestGround, type TestApp, type TestGround } from '../../support/service.ts';
import { startServiceProcess } from '../../support/service-process.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { startActor } from './actor.ts';

export const USER = 'soaked';
const SECRET = 'a secret of the hostile tests, long enough';
const CREDIT = 1_000_000_000_000;

/** A service process, its provider in another, and clients in further ones: none shares its memory or event loop. */
export type SoakStage = Awaited<ReturnType<typeof setSoakStage>>;

export async function setSoakStage(workers = 1) {
  const owned = new AsyncDisposableStack();
  const provider = await startActor('soak-provider.ts', '');
  owned.defer(provider.end);
  const baseUrl = String(await provider.tell('listen'));
  const catalogue = catalogueAt(baseUrl, {
    timeoutMs: 600_000,
    maxOutputTokens: 100_000,
    defaultOutputTokens: 100_000,
  });
  const ground = await createTestGround(catalogue);
  owned.defer(ground.close);
  await keepEmailKey(ground.database.owner, Buffer.from(SECRET));
  const app = await ground.addApp({ maxStreamsPerUser: 1_000_000 });
  await ground.fund(app, USER, CREDIT);
  const dataDirectory = mkdtempSync(path.join(os.tmpdir(), 'purser-soak-'));
  owned.defer(() => rmSync(dataDirectory, { recursive: true, force: true }));
  const environment = {
    PURSER_ENV: 'production',
    PURSER_LOG_LEVEL: 'error',
    PURSER_SECRET: SECRET,
    PURSER_PUBLIC_URL: 'https://purser.test',
  };
  const service = await startServiceProcess({
    dataDirectory,
    catalogue,
    databaseUrl: ground.database.url,
    environment,
    workers,
  });
  owned.defer(service.stop);
  return {
    service,
    app,
    provider,
    /** A client in its own process. */
    startClient: async (script: string, further: object = {}) => {
      const target = { url: service.url, key: app.liveKey, user: USER, ...further };
      const client = await startActor(script, JSON.stringify(target));
      owned.defer(client.end);
      return client;
    },
    /** Somebody who has signed up, with an app and no money. */
    addFreeAccount: async () => {
      const { database } = ground;
      const person = await newOwner({ url: service.url, database });
      return { appId: (await newOwnApp(person)).appId, cookie: `__Host-purser-session=${person.token}` };
    },
    /** Waits until nothing is held, and returns what the ledger check finds wrong. */
    checkBooks: () => checkBooks(ground, app),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const HELD_MS_MAX = 120_000;

async function checkBooks(ground: TestGround, app: TestApp): Promise<readonly unknown[]> {
  await waitUntil('nothing is held', async () => (await ground.wallet(app, USER)).held === 0, HELD_MS_MAX);
  return ground.check();
}
