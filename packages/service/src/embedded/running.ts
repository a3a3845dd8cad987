import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { SUPERUSER } from '#embedded/server/cluster.ts';
import { unlessMissing } from '#embedded/files/embedded-postgres-error.ts';
import { layOut } from '#embedded/files/layout.ts';
import { readPostmasterFile } from '#embedded/processes/leftovers.ts';

const ANSWER_TIMEOUT_MS = 2_000;

/**
 * The URL of the server that another Purser runs on `directory`. Undefined when none runs or it does not answer. For commands
 * beside a running service: the server, its data and its locks stay with the other process.
 */
export async function findRunningPostgres(directory: string): Promise<string | undefined> {
  const layout = await layOut(directory);
  const file = await readPostmasterFile(layout);
  const password = await unlessMissing(readFile(layout.secret, 'utf8'));
  if (file?.isReady !== true || password === undefined) return undefined;
  const url = `postgres://${SUPERUSER}:${password.trim()}@127.0.0.1:${file.port}/postgres`;
  return (await answers(url)) ? url : undefined;
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: ANSWER_TIMEOUT_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
