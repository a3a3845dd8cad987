import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { newApiKey } from '../../packages/service/src/developers/keys/key-text.ts';
import { register } from '../../packages/service/src/developers/registration.ts';
import { readConfig } from '../../packages/service/src/app/settings/config.ts';
import { startGateway } from '../../packages/service/src/app/serve.ts';
import { applyCatalogueFile } from '../../packages/service/src/catalogue/catalogue-file.ts';
import type { StreamPace } from '../../packages/service/src/gateway/call/call.ts';
import {
  type AppId,
  type EndUserId,
  newAccountId,
  newAppId,
  newKeyId,
} from '../../packages/service/src/kernel/values/ids.ts';
import type { Log } from '../../packages/service/src/kernel/log.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { checkLedger, type Difference } from '../../packages/service/src/ledger/check/check.ts';
import { createFunding } from '../../packages/service/src/ledger/funding/funding.ts';
import { createWallets } from '../../packages/service/src/ledger/wallet/wallet.ts';
import { watchAnswers } from './answered.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { keptKeysFor } from './keys.ts';
import { overhear, type Overheard } from './overheard.ts';
import { watchSandbox } from './sandbox-watch.ts';
import { sqlRow } from './sql.ts';

export interface TestApp {
  readonly appId: AppId;
  readonly liveKey: string;
  readonly testKey: string;
}

export interface AppOptions {
  readonly isFirstParty?: boolean;
  readonly ratePerMinute?: number;
  readonly rateBurst?: number;
  readonly maxStreamsPerUser?: number;
}

/** A real database with a catalogue for the test, and functions to set up and inspect it. */
export interface TestGround {
  readonly database: TestDatabase;
  readonly addApp: (options?: AppOptions) => Promise<TestApp>;
  /** The keys of all apps that were added. */
  readonly keys: readonly string[];
  /** No log line and no metric may contain it. */
  readonly keepSecret: (secret: string) => void;
  /** Opens a connected wallet with this balance, and a monthly cap if one is given. */
  readonly fund: (app: TestApp, userId: string, amount: number, cap?: number) => Promise<void>;
  readonly wallet: (app: TestApp, userId: string) => Promise<WalletFigures>;
  readonly setWallet: (app: TestApp, userId: string, assignment: string) => Promise<void>;
  /** The differences in the books. The books are right if there are none. */
  readonly check: () => Promise<readonly Difference[]>;
  readonly close: () => Promise<void>;
}

/** The service on such ground, over real HTTP. */
export interface TestService extends TestGround {
  readonly linesOf: Overheard['linesOf'];
  readonly linesOfCall: Overheard['linesOfCall'];
  readonly url: string;
  readonly dataDirectory: string;
  /** The secret with which it signs links, for other gateways on its database. */
  readonly secret: string;
  /** Something that ends when the service is closed, before it. */
  readonly closeFirst: (close: () => Promise<void>) => void;
}

interface WalletFigures {
  readonly balance: number;
  readonly held: number;
  readonly openStreams: number;
}

/** The address to which every app of the tests may send its users back. */
export const REDIRECT_URI = 'https://app.test/back';
/** The one that the demo app has, which the documents use. */
const DEMO_REDIRECT_URI = 'http://localhost:8787/';

const GENEROUS = { ratePerMinute: 1_000_000, rateBurst: 1_000_000, maxStreamsPerUser: 1_000 };

export async function startTestService(
  catalogue: unknown,
  environment: Environment = {},
  ownDatabase?: TestDatabase,
  options: { readonly pace?: StreamPace } = {},
): Promise<TestService> {
  const ground = await createTestGround(catalogue, ownDatabase);
  const { log, assertDiscreet, linesOf, linesOfCall } = overhear();
  const sandbox = watchSandbox();
  const gateway = await startOn(ground.database, log, environment, options);
  const closings: (() => Promise<void>)[] = [];
  return {
    ...ground,
    dataDirectory: gateway.dataDirectory,
    secret: gateway.secret,
    url: gateway.url,
    linesOf,
    linesOfCall,
    closeFirst: (close) => void closings.push(close),
    close: async () => {
      for (const close of closings) await close();
      await gateway.stop();
      await ground.close();
      sandbox.stop();
      sandbox.assertNothingSent();
      assertDiscreet([...ground.keys, gateway.secret, new URL(ground.database.url).password]);
      gateway.assertDocumented();
    },
  };
}

/** Another gateway on the database of a test's service, like a second process, with a readable log. It ends with the service. */
export type SecondGateway = Awaited<ReturnType<typeof startSecondGateway>>;

export async function startSecondGateway({ database, closeFirst }: TestService, environment: Environment = {}) {
  const lines: string[] = [];
  const keep = (...fields: unknown[]): void => void lines.push(JSON.stringify(fields));
  const gateway = await startOn(database, { debug: keep, info: keep, warn: keep, error: keep }, environment);
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= gateway.stop().then(gateway.assertDocumented));
  closeFirst(close);
  return {
    url: gateway.url,
    /** Every line logged so far, as JSON. */
    logged: () => lines,
    /** Stops it once. Calling it again has no further effect. */
    close,
  };
}

type Environment = Readonly<Record<string, string>>;

async function startOn(database: TestDatabase, log: Log, environment: Environment, options = {}) {
  const dataDirectory = mkdtempSync(path.join(os.tmpdir(), 'purser-data-'));
  const config = readConfig({
    PORT: '0',
    PURSER_PUBLIC_URL: 'https://purser.test',
    PURSER_ACCOUNT_RATE_PER_MINUTE: '1000000', // Tests send far more than people do, from one address.
    PURSER_ACCOUNT_RATE_BURST: '1000000',
    PURSER_DATA_DIR: dataDirectory,
    DATABASE_URL: database.url,
    PURSER_STOP_DELAY_SECONDS: '0', // There is no proxy in front, and every stop would wait for it in production.
    ...environment,
  });
  const keptKeys = await keptKeysFor(database, config, environment);
  const databaseUrl = config.databaseUrl ?? database.url;
  const gateway = await startGateway(config, log, { databaseUrl, simulatorUrl: undefined, keptKeys }, options);
  const { assertDocumented } = await watchAnswers(gateway.url);
  return {
    url: gateway.url,
    dataDirectory,
    secret: config.secret.toString('utf8'),
    assertDocumented,
    stop: async () => {
      await gateway.stop();
      rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
}

/** A database and catalogue for gateways that run in separate processes. Without a catalogue, the database keeps the one that it has. */
export async function createTestGround(catalogue: unknown, ownDatabase?: TestDatabase): Promise<TestGround> {
  const database = ownDatabase ?? (await createTestDatabase());
  if (catalogue !== undefined) await applyCatalogueFile(database.owner, JSON.stringify(catalogue));
  const keys: string[] = [];
  return {
    database,
    keys,
    keepSecret: (secret) => void keys.push(secret),
    addApp: async (options) => {
      const app = await addApp(database, options);
      keys.push(app.liveKey, app.testKey);
      return app;
    },
    fund: (app, userId, amount, cap) => fund(database, app, userId, amount, cap),
    wallet: (app, userId) => readWallet(database, app, userId),
    setWallet: async ({ appId }, userId, assignment) => {
      await database.owner.query(`update ledger.wallets set ${assignment} where app_id = $1 and user_id = $2`, [
        appId,
        userId,
      ]);
    },
    check: async () => (await checkLedger(database.owner)).differences,
    close: database.close,
  };
}

async function addApp({ owner }: TestDatabase, options: AppOptions = {}): Promise<TestApp> {
  const { isFirstParty = false, ...limits } = options;
  const app = { appId: newAppId(), liveKey: newApiKey('live'), testKey: newApiKey('sandbox') };
  const accountId = newAccountId();
  await register(owner, {
    account: { accountId, email: `${accountId.toLowerCase()}@example.test`, name: 'Test account' },
    app: {
      appId: app.appId,
      name: 'Test app',
      redirectUris: [REDIRECT_URI, DEMO_REDIRECT_URI],
      isFirstParty,
      limits: { ...GENEROUS, ...limits },
    },
    keys: [
      { keyId: newKeyId(), apiKey: app.liveKey },
      { keyId: newKeyId(), apiKey: app.testKey },
    ],
  });
  return app;
}

async function fund(
  database: TestDatabase,
  { appId }: TestApp,
  user: string,
  amount: number,
  cap?: number,
): Promise<void> {
  const userId = user as EndUserId;
  const capMicros = cap === undefined ? undefined : micros(BigInt(cap));
  await createWallets(database.owner).open({ appId, userId, currency: 'EUR', cap: capMicros });
  if (amount === 0) return;
  const credit = { appId, userId, kind: 'contract_credit', amount: micros(BigInt(amount)), key: 'first' } as const;
  await createFunding(database.owner).credit(credit);
}

async function readWallet(database: TestDatabase, { appId }: TestApp, userId: string): Promise<WalletFigures> {
  const row = await sqlRow<{ balance_micros: bigint; held_micros: bigint; open_streams: number }>(database)`
    select balance_micros, held_micros, open_streams from ledger.wallets where app_id = ${appId} and user_id = ${userId}`;
  if (row === undefined) throw new Error('There is no such wallet.');
  return { balance: Number(row.balance_micros), held: Number(row.held_micros), openStreams: row.open_streams };
}
