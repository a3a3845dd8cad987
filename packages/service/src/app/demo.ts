import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { newAppSchema } from '@purser/contract/control.ts';
import { userId as userIdSchema } from '@purser/contract/identifiers.ts';
import { newApiKey } from '#accounts/api-key.ts';
import { ensureSignIn } from '#accounts/ensure-account.ts';
import { register } from '#accounts/registration.ts';
import type { Config } from '#app/config.ts';
import type { Pool } from '#db/pool.ts';
import {
  type AccountId,
  type AppId,
  type EndUserId,
  type KeyId,
  newAccountId,
  newAppId,
  newKeyId,
} from '#kernel/ids.ts';
import { micros } from '#kernel/micros.ts';
import { randomBase62 } from '#kernel/random.ts';
import { createFunding } from '#ledger/funding/funding.ts';
import { createWallets } from '#ledger/wallet/wallet.ts';

/** The demo of a development service: made at its first start, with random keys kept in the data directory. */
export interface Demo {
  readonly accountId: AccountId;
  readonly appId: AppId;
  readonly liveKeyId: KeyId;
  readonly liveKey: string;
  readonly testKeyId: KeyId;
  readonly testKey: string;
  readonly userId: EndUserId;
  /** Sign-ins, random like the keys. */
  readonly ownerPassword: string;
  readonly operatorPassword: string;
}

export const DEMO_OWNER_EMAIL = 'demo@purser.invalid';
export const DEMO_OPERATOR_EMAIL = 'operator@purser.invalid';
const { redirectUris } = newAppSchema.shape;
const DEMO_USER = userIdSchema.parse('demo-user');
const PASSWORD_LENGTH = 22;

const DEMO_CREDIT = micros(20_000_000n);
/** Out of the way of somebody who tries things out. */
const DEMO_LIMITS = { ratePerMinute: 1_000_000, rateBurst: 1_000_000, maxStreamsPerUser: 100 };

/** Makes the demo account, app, keys and funded user, where they are missing. Safe to repeat. */
export async function ensureDemo(
  pool: Pool,
  { dataDirectory, currency, publicUrl }: Pick<Config, 'dataDirectory' | 'currency' | 'publicUrl'>,
): Promise<Demo> {
  const root = [`${publicUrl}/`]; // The page at our own root, for there is no app to go back to.
  const demo = readOrMake(path.join(dataDirectory, 'demo.json'));
  await register(pool, {
    account: { accountId: demo.accountId, email: DEMO_OWNER_EMAIL, name: 'Demo account' },
    app: {
      appId: demo.appId,
      name: 'Demo app',
      redirectUris: redirectUris.safeParse(root).success ? root : [],
      isFirstParty: true, // So that a model of a vendor whose key you have can be tried at once.
      limits: DEMO_LIMITS,
    },
    keys: [
      { keyId: demo.liveKeyId, apiKey: demo.liveKey },
      { keyId: demo.testKeyId, apiKey: demo.testKey },
    ],
  });
  await ensureSignIn(pool, { email: DEMO_OWNER_EMAIL, password: demo.ownerPassword, name: 'Demo', role: 'owner' });
  const operator = { email: DEMO_OPERATOR_EMAIL, password: demo.operatorPassword };
  await ensureSignIn(pool, { ...operator, name: 'Demo operator', role: 'operator' });
  const { appId, userId } = demo;
  await createWallets(pool).open({ appId, userId, currency, cap: undefined });
  await createFunding(pool).credit({ appId, userId, kind: 'contract_credit', amount: DEMO_CREDIT, key: 'demo' });
  return demo;
}

/** What an earlier version of the demo did not have is made now. */
function readOrMake(file: string): Demo {
  const kept = readKept(file);
  const demo: Demo = {
    accountId: newAccountId(),
    appId: newAppId(),
    liveKeyId: newKeyId(),
    liveKey: newApiKey('live'),
    testKeyId: newKeyId(),
    testKey: newApiKey('sandbox'),
    userId: DEMO_USER,
    ownerPassword: randomBase62(PASSWORD_LENGTH),
    operatorPassword: randomBase62(PASSWORD_LENGTH),
    ...kept,
  };
  if (Object.keys(kept).length < Object.keys(demo).length) {
    writeFileSync(file, `${JSON.stringify(demo, undefined, 2)}\n`, { mode: 0o600 });
  }
  return demo;
}

function readKept(file: string): Partial<Demo> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Partial<Demo>; // Written by us, above.
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return {};
    throw fault;
  }
}
