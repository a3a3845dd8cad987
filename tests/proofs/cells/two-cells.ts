// Two services on two databases, which are two cells with the same apps. They share the secret and an upstream.
import assert from 'node:assert/strict';
import { newApiKey } from '../../../packages/service/src/developers/keys/key-text.ts';
import { register } from '../../../packages/service/src/developers/registration.ts';
import { openCell } from '../../../packages/service/src/app/cells/own-cell.ts';
import { addCell } from '../../../packages/service/src/cells/topology/cells.ts';
import { homeSlotOf, slotOf } from '../../../packages/service/src/kernel/values/slot.ts';
import { bumpGeneration } from '../../../packages/service/src/db/processes/queries.ts';
import {
  type AppId,
  type EndUserId,
  newAccountId,
  newAppId,
  newKeyId,
} from '../../../packages/service/src/kernel/values/ids.ts';
import { catalogueAt } from '../../support/catalogue.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { changeKeys } from '../../support/operator-acts.ts';
import { REDIRECT_URI, startTestService, type TestApp, type TestService } from '../../support/service.ts';
import { sql } from '../../support/sql.ts';
import { SHARED_SECRET } from '../../support/keys.ts';

export type CellName = 'c1' | 'c2';

export interface TwoCells {
  readonly c1: TestService;
  readonly c2: TestService;
  readonly app: TestApp & {
    /** A live key that may be used from 192.0.2.0/24 only. */
    readonly boundKey: string;
  };
  /** A new app with these limits, whose bucket is in the cell `home`. */
  readonly addApp: (home: CellName, limits: AppLimits) => Promise<TwoCells['app']>;
  /** A new user whose slot belongs to this cell. */
  readonly userOf: (cell: CellName) => EndUserId;
  /** Says in the database of `at` that gateways reach the cell `name` there. It is in force a moment later. */
  readonly setAddress: (at: CellName, name: CellName, address: string) => Promise<void>;
  /** Says in the database of `at` that `cell` has the user. It is in force a moment later. */
  readonly give: (at: CellName, user: EndUserId, cell: CellName) => Promise<void>;
  /** Closes both, and then the others, even if one fails. Fails if the books of a cell are not right. */
  readonly close: (...others: readonly Pick<TestService, 'close'>[]) => Promise<void>;
}

const NAMES = ['c1', 'c2'] as const;
const NOWHERE = 'http://127.0.0.1:9';

/** The lower half of the slots belongs to `c1`. `settings` are those of both. */
export async function startTwoCells(upstreamUrl: string, settings: Settings = {}): Promise<TwoCells> {
  const [first, second] = await Promise.all(NAMES.map(startCell(upstreamUrl, settings)));
  if (first === undefined || second === undefined) throw new Error('There are two cells.');
  const cells = { c1: first, c2: second };
  const setAddress = async (at: CellName, name: CellName, address: string): Promise<void> => {
    await addCell(cells[at].database.owner, name, address);
  };
  await setAddress('c1', 'c2', cells.c2.url);
  await setAddress('c2', 'c1', cells.c1.url);
  const databases = [first.database, second.database];
  // So a stand-in for `c2` gets only what is forwarded.
  const app = await addApp(databases, { home: 'c1', limits: GENEROUS });
  let users = 0;
  return {
    ...cells,
    app,
    addApp: (home, limits) => addApp(databases, { home, limits }),
    userOf: (cell) => {
      for (;;) {
        const user = `user-${(users += 1)}` as EndUserId;
        if (slotOf(app.appId, user) < 2_048 === (cell === 'c1')) return user;
      }
    },
    setAddress,
    give: async (at, user, cell) => {
      const { owner } = cells[at].database;
      await sql(owner)`update cells.slots set cell = ${cell} where slot = ${slotOf(app.appId, user)}`;
      await bumpGeneration(owner, 'cells');
    },
    close: async (...others) => {
      const differences = [...(await first.check()), ...(await second.check())];
      // Or the process of a test that failed would never end.
      const ended = await Promise.allSettled([first, second, ...others].map(({ close }) => close()));
      assert.deepEqual(differences, []);
      for (const end of ended) if (end.status === 'rejected') throw end.reason;
    },
  };
}

type Settings = Readonly<Record<string, string>>;

function startCell(upstreamUrl: string, settings: Settings) {
  return async (own: CellName): Promise<TestService> => {
    const database = await createTestDatabase();
    for (const name of NAMES) await addCell(database.owner, name, NOWHERE);
    await openCell(database.owner, own);
    await sql(database)`update cells.slots set cell = 'c2' where slot >= 2048`;
    const its = { PURSER_CELL: own, PURSER_PUBLIC_URL: `https://${own}.purser.test` };
    const environment = { ...SHARED_SECRET, ...settings, ...its };
    return startTestService(catalogueAt(upstreamUrl, { timeoutMs: 30_000 }), environment, database);
  };
}

interface AppLimits {
  readonly ratePerMinute: number;
  readonly rateBurst: number;
}

const GENEROUS: AppLimits = { ratePerMinute: 1_000_000, rateBurst: 1_000_000 };

/** The same app with the same keys in all databases. */
async function addApp(
  databases: readonly TestDatabase[],
  { home, limits }: { readonly home: CellName; readonly limits: AppLimits },
): Promise<TwoCells['app']> {
  const app = {
    appId: newAppIdAt(home),
    liveKey: newApiKey('live'),
    testKey: newApiKey('sandbox'),
    boundKey: newApiKey('live'),
  };
  const accountId = newAccountId();
  const keys = [app.boundKey, app.liveKey, app.testKey].map((apiKey) => ({ keyId: newKeyId(), apiKey }));
  for (const { owner } of databases) {
    await register(owner, {
      account: { accountId, email: `${accountId.toLowerCase()}@example.test`, name: 'Test account' },
      app: {
        appId: app.appId,
        name: 'Test app',
        redirectUris: [REDIRECT_URI],
        isFirstParty: false,
        limits: { ...limits, maxStreamsPerUser: 1_000 },
      },
      keys,
    });
    await changeKeys(owner, { set: `addresses = '{192.0.2.0/24}'`, where: 'key_id = $1' }, [keys[0]?.keyId]);
  }
  return app;
}

/** An id whose bucket is in this cell. */
function newAppIdAt(home: CellName): AppId {
  for (;;) {
    const appId = newAppId();
    if (homeSlotOf(appId) < 2_048 === (home === 'c1')) return appId;
  }
}
