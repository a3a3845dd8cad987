import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { newApiKey } from '../../packages/service/src/developers/keys/key-text.ts';
import { register } from '../../packages/service/src/developers/registration.ts';
import { migrate } from '../../packages/service/src/db/schema/migrate.ts';
import { createPool, type Pool } from '../../packages/service/src/db/pool/pool.ts';
import { startEmbeddedPostgres } from '../../packages/service/src/embedded/embedded-postgres.ts';
import { createEmailSeal } from '../../packages/service/src/kernel/values/email-seal.ts';
import { type AppId, newAccountId, newAppId, newKeyId } from '../../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import type { Tools } from './tools.ts';

/** A real PostgreSQL with `fsync` on, as `npm start` runs it. */
export interface BenchDatabase {
  readonly url: string;
  readonly owner: Pool;
  /** The process id of the postmaster, of which all its other processes descend. */
  readonly pid: number;
  /** Moves it to these cores, as `taskset -c` takes them. */
  readonly pin: (cores: string) => void;
  readonly close: () => Promise<void>;
}

interface DatabaseOptions {
  readonly tools: Tools;
  readonly cores: string;
  readonly directory: string;
}

const OWNER_CONNECTIONS_MAX = 4;

/** A PostgreSQL with nothing in it. */
interface Server extends Pick<BenchDatabase, 'url' | 'pid' | 'pin'> {
  readonly stop: () => Promise<void>;
}

export async function startServer({ tools, cores, directory }: DatabaseOptions): Promise<Server> {
  const server = await startEmbeddedPostgres({ directory, log: createLog('error'), say: () => {} });
  const pid = Number(readFileSync(path.join(directory, 'postmaster.pid'), 'utf8').split('\n', 1)[0]);
  // It was started as a child of this process; what it starts later keeps its cores, what it has started must be told.
  const pin = (to: string) => tools.taskset !== undefined && pinTree(tools.taskset, to, pid);
  pin(cores);
  return { url: server.url, pid, pin, stop: server.stop };
}

/** Starts a server of its own in `directory` and brings its schema up to date. */
export async function startDatabase(options: DatabaseOptions): Promise<BenchDatabase> {
  const { stop, ...server } = await startServer(options);
  const owner = createOwner(server.url);
  await migrate(owner);
  return {
    ...server,
    owner,
    close: async () => {
      await owner.end();
      await stop();
    },
  };
}

/** Connections that act as the owner of everything. Nobody reads the address of an account here, so any key will do. */
export function createOwner(url: string): Pool {
  const emails = createEmailSeal(randomBytes(32));
  return createPool({ url, role: 'owner', connectionsMax: OWNER_CONNECTIONS_MAX, log: createLog('error'), emails });
}

function pinTree(taskset: string, cores: string, pid: number): void {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(/\s+/).map(Number);
  for (const member of [pid, ...children]) {
    if (member > 0) execFileSync(taskset, ['-a', '-c', '-p', cores, String(member)], { stdio: 'ignore' });
  }
}

/** An app whose rate limit does not bind: a million calls at once, and a million a minute. */
export interface BenchApp {
  readonly appId: AppId;
  readonly liveKey: string;
  readonly testKey: string;
}

const LIMITS = { ratePerMinute: 1_000_000, rateBurst: 1_000_000, maxStreamsPerUser: 1_000 };

export async function addApp(owner: Pool): Promise<BenchApp> {
  const app = { appId: newAppId(), liveKey: newApiKey('live'), testKey: newApiKey('sandbox') };
  const accountId = newAccountId();
  await register(owner, {
    account: { accountId, email: `${accountId.toLowerCase()}@example.test`, name: 'Benchmark' },
    app: { appId: app.appId, name: 'Benchmark', redirectUris: [], isFirstParty: false, limits: LIMITS },
    keys: [
      { keyId: newKeyId(), apiKey: app.liveKey },
      { keyId: newKeyId(), apiKey: app.testKey },
    ],
  });
  return app;
}

/** The balance is enough for every call that a run can make, at prices of a few micros. */
const BALANCE_MICROS = 1_000_000_000;

/**
 * Opens wallets with money in them, and as many of play money, for `user-0`, `user-1` and so on, dealt out among the apps in
 * turn: what a user's first call costs is not what is measured.
 */
export async function fundUsers(owner: Pool, apps: readonly BenchApp[], users: number): Promise<void> {
  const wanted = `unnest($1::text[]) with ordinality as a (app_id, place), generate_series(a.place - 1, $2 - 1, $3) n`;
  const values = [apps.map(({ appId }) => appId), users, apps.length];
  await owner.query(`select ledger.open_wallet(a.app_id, 'user-' || n, 'EUR', null) from ${wanted}`, values);
  await owner.query(
    `select ledger.credit(a.app_id, 'user-' || n, 'contract_credit', ${BALANCE_MICROS}, 'first') from ${wanted}`,
    values,
  );
  await owner.query(
    `select sandbox.reset(a.app_id, 'user-' || n, ${BALANCE_MICROS}, null, false) from ${wanted}`,
    values,
  );
  await owner.query('analyze');
}

/** Opens one more wallet, with exactly so much money in it. */
export async function fundUser(owner: Pool, { appId }: BenchApp, user: string, amountMicros: number): Promise<void> {
  await owner.query(`select ledger.open_wallet($1, $2, 'EUR', null)`, [appId, user]);
  await owner.query(`select ledger.credit($1, $2, 'contract_credit', $3, 'first')`, [appId, user, amountMicros]);
}
