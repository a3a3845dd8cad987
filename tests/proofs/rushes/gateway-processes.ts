import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestApp, TestGround } from '../../support/service.ts';
import { send } from '../../support/client.ts';
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** Gateways on one database, each in a separate process, as an operator runs them on several machines. */
export type GatewayProcesses = Awaited<ReturnType<typeof startGatewayProcesses>>;

/** What several machines share. */
const ENVIRONMENT = {
  PURSER_ENV: 'production',
  PURSER_SECRET: 'a secret of the tests, known to all gateways of one database',
  PURSER_PUBLIC_URL: 'https://purser.test',
};

export async function startGatewayProcesses(
  count: number,
  { ground, catalogue }: { readonly ground: TestGround; readonly catalogue: unknown },
) {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'purser-gateways-'));
  const processes: ServiceProcess[] = [];
  for (let index = 0; index < count; index += 1) {
    const dataDirectory = mkdtempSync(path.join(directory, 'data-'));
    const databaseUrl = ground.database.url;
    processes.push(await startServiceProcess({ dataDirectory, catalogue, databaseUrl, environment: ENVIRONMENT }));
  }
  const urls = processes.map(({ url }) => url);
  return {
    urls,
    pids: processes.map(({ pid }) => pid),
    /** Resolves when every gateway accepts the app's keys. A new key reaches them within a second. */
    untilKnown: async ({ liveKey: key }: TestApp) => {
      for (const url of urls) {
        await waitUntil('the key is known', async () => (await send('/v1/models', { url, key })).status === 200);
      }
    },
    close: async () => {
      await Promise.all(processes.map(({ stop }) => stop()));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
