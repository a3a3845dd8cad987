import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { catalogueAt } from '../../support/catalogue.ts';
import { createTestGround, type TestApp, type TestGround } from '../../support/service.ts';
import { startServiceProcess } from '../../support/service-process.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { startActor } from './actor.ts';

export const USER = 'soaked';
const CREDIT = 1_000_000_000_000;

/** A service process, its provider in another, and clients in further ones: none shares its memory or event loop. */
export type SoakStage = Awaited<ReturnType<typeof setSoakStage>>;

export async function setSoakStage() {
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
  const app = await ground.addApp({ maxStreamsPerUser: 1_000_000 });
  await ground.fund(app, USER, CREDIT);
  const dataDirectory = mkdtempSync(path.join(os.tmpdir(), 'purser-soak-'));
  owned.defer(() => rmSync(dataDirectory, { recursive: true, force: true }));
  const environment = {
    PURSER_ENV: 'production',
    PURSER_LOG_LEVEL: 'error',
    PURSER_SECRET: 'a secret of the hostile tests, long enough',
    PURSER_PUBLIC_URL: 'https://purser.test',
  };
  const service = await startServiceProcess({
    dataDirectory,
    catalogue,
    databaseUrl: ground.database.url,
    environment,
  });
  owned.defer(service.stop);
  return {
    service,
    app,
    provider,
    /** A client in its own process. */
    startClient: async (script: string) => {
      const client = await startActor(script, JSON.stringify({ url: service.url, key: app.liveKey, user: USER }));
      owned.defer(client.end);
      return client;
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
