import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { readConfig } from '../../packages/service/src/app/config.ts';
import { startGateway } from '../../packages/service/src/app/serve.ts';
import type { Log } from '../../packages/service/src/kernel/log.ts';
import { watchAnswers } from './answered.ts';
import { keptKeysFor } from './keys.ts';
import type { TestService } from './service.ts';

/** Another gateway on the database of a test's service, like a second process, with a readable log. */
export type SecondGateway = Awaited<ReturnType<typeof startSecondGateway>>;

export async function startSecondGateway(service: TestService, environment: Readonly<Record<string, string>> = {}) {
  const lines: string[] = [];
  const keep = (...fields: unknown[]): void => void lines.push(JSON.stringify(fields));
  const log: Log = { debug: keep, info: keep, warn: keep, error: keep };
  const dataDirectory = mkdtempSync(path.join(os.tmpdir(), 'purser-second-'));
  const config = readConfig({
    PORT: '0',
    PURSER_PUBLIC_URL: 'https://purser.test',
    PURSER_DATA_DIR: dataDirectory,
    DATABASE_URL: service.database.url,
    PURSER_STOP_DELAY_SECONDS: '0',
    ...environment,
  });
  const gateway = await startGateway(config, log, {
    databaseUrl: service.database.url,
    simulatorUrl: undefined,
    keptKeys: await keptKeysFor(service.database, config, environment),
  });
  const { assertDocumented } = await watchAnswers(gateway.url);
  let closed: Promise<void> | undefined;
  async function close(): Promise<void> {
    await gateway.stop();
    rmSync(dataDirectory, { recursive: true, force: true });
    assertDocumented();
  }
  return {
    url: gateway.url /** Every line logged so far, as JSON. */,
    logged: () => lines /** Stops it once. Calling it again has no further effect. */,
    close: () => (closed ??= close()),
  };
}
