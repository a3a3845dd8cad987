import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { newAppSchema } from '@purser/contract/control.ts';
import { userId as userIdSchema } from '@purser/contract/identifiers.ts';
import { newApiKey } from '#developers/keys/key-text.ts';
import { ensureSignIn } from '#developers/sign-in/ensure-account.ts';
import { register } from '#developers/registration.ts';
import type { Config } from '#app/settings/config.ts';
import type { Pool } from '#db/pool/pool.ts';
import {
  type AccountId,
  type AppId,
  type EndUserId,
  type KeyId,
  newAccountId,
  newAppId,
  newKeyId,
} from '#kernel/values/ids.ts';
import { micros } from '#kernel/values/micros.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';
import { createFunding } from '#ledger/funding/funding.ts';
import { createWallets } from '#ledger/wallet/wallet.ts';

/** The demo data of a development service. Made at its first start; the random keys are kept in the data directory. */
export interface Demo {
  readonly accountId: AccountId;
  readonly appId: AppId;
  readonly liveKeyId: KeyId;
  readonly liveKey: string;
  readonly testKeyId: KeyId;
  readonly testKey: string;
  readonly userId: EndUserId;
  /** Passwords to sign in with, random like the keys. */
  readonly ownerPassword: string;
  readonly operatorPassword: string;
}

export const DEMO_OWNER_EMAIL = 'demo@purser.invalid';
export const DEMO_OPERATOR_EMAIL = 'operator@purser.invalid';
const { redirectUris } = newAppSchema.shape;
const DEMO_USER = userIdSchema.parse('demo-user');
const PASSWORD_LENGTH = 22;

const DEMO_CREDIT = micros(20_000_000n);
/** The limits are so high that nobody who tries things out runs into them. */
const DEMO_LIMITS = { ratePerMinute: 1_000_000, rateBurst: 1_000_000, maxStreamsPerUser: 100 };

/** Creates the demo account, app, keys and funded user if they are missing. Repeating changes nothing. */
export async function ensureDemo(
  pool: Pool,
  { dataDirectory, currency, publicUrl }: Pick<Config, 'dataDirectory' | 'currency' | 'publicUrl'>,
): Promise<Demo> {
  const root = rootsOf(publicUrl);
  const demo = readOrMake(path.join(dataDirectory, 'demo.json'));
  await register(pool, {
    account: { accountId: demo.accountId, email: DEMO_OWNER_EMAIL, name: 'Demo account' },
    app: {
      appId: demo.appId,
      name: 'Demo app',
      redirectUris: redirectUris.safeParse(root).success ? root : [],
      isFirstParty: true, // So that reserved models work: anybody with a vendor's key can try its models at once.
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

/**
 * Returns our own start page, because the demo has no app of its own to return to. Redirect addresses are compared as
 * text, and people write both names of their machine.
 */
function rootsOf(publicUrl: string): readonly string[] {
  const { hostname, port } = new URL(publicUrl);
  return [`${publicUrl}/`, ...(hostname === 'localhost' ? [`http://127.0.0.1:${port}/`] : [])];
}

/** Reads the demo's keys, and makes those that an earlier version of the demo did not have yet. */
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

/** A missing file means a first start. Any other fault must not silently replace keys that are in use. */
function readKept(file: string): Partial<Demo> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Partial<Demo>; // Written by `readOrMake`.
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return {};
    throw fault;
  }
}
