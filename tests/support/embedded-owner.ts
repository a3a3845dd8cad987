// Runs an embedded PostgreSQL in a separate process, so that a test can kill it. Started by `runOwner` in
// embedded-harness.ts. Prints one of these per line: `ready URL`, `acked N`, `refused MESSAGE`. Ends gracefully when stdin
// ends, and at once when anything arrives there.
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import pg from 'pg';
import type { HostTool } from '../../packages/service/src/embedded/processes/command.ts';
import {
  type EmbeddedPostgres,
  EmbeddedPostgresError,
  startEmbeddedPostgres,
} from '../../packages/service/src/embedded/embedded-postgres.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { sqlValue } from './sql.ts';

const [directory = '', without = '', load = ''] = process.argv.slice(2);
const tell = (line: string): void => void process.stdout.write(`${line}\n`);

async function insertForEver(url: string): Promise<never> {
  const client = new pg.Client(url);
  client.on('error', () => undefined); // The test kills the server first, and then this process.
  await client.connect();
  await client.query('create table if not exists acked (n bigint primary key)');
  const next = await sqlValue<number>(client)`select coalesce(max(n), 0)::int + 1 as next from acked`;
  for (let n = next ?? 1; ; n += 1) {
    await client.query('insert into acked values ($1)', [n]);
    tell(`acked ${n}`);
    await yieldToOthers();
  }
}

async function main(): Promise<void> {
  let server: EmbeddedPostgres;
  try {
    server = await startEmbeddedPostgres({
      directory,
      log: createLog('silent'),
      say: () => undefined,
      without: without.split(',') as HostTool[],
    });
  } catch (fault) {
    if (!(fault instanceof EmbeddedPostgresError)) throw fault;
    tell(`refused ${fault.message}`);
    process.exit(0);
  }
  process.on('SIGINT', () => undefined); // As the service does while calls in flight come to their end.
  process.stdin.once('data', () => process.exit(1));
  process.stdin.once('end', () => void server.stop().then(() => process.exit(0)));
  tell(`ready ${server.url}`);
  if (load === 'load') await insertForEver(server.url).catch(() => undefined);
}

await main();
