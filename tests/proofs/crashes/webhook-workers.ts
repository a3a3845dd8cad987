// Workers in separate processes, as `npm run purser -- work` starts them, so that a test can kill them.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type ServiceProcess, startWorkProcess } from '../../support/service-process.ts';

export const WORKER_SECRET = 'a secret of the tests, known to every worker of one database';

export async function startWorkers(count: number, databaseUrl: string) {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'purser-workers-'));
  const environment = { PURSER_SECRET: WORKER_SECRET, PURSER_WEBHOOK_ALLOW_PRIVATE: '1' };
  const start = (): Promise<ServiceProcess> =>
    startWorkProcess({
      dataDirectory: mkdtempSync(path.join(directory, 'data-')),
      catalogue: {},
      databaseUrl,
      environment,
    });
  const workers = await Promise.all(Array.from({ length: count }, start));
  return {
    /** Kills any one of them and starts another in its place. */
    replaceOne: async () => {
      const index = Math.floor(Math.random() * workers.length);
      await workers[index]?.kill();
      workers[index] = await start();
    },
    close: async () => {
      await Promise.all(workers.map(({ stop }) => stop()));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
