import assert from 'node:assert/strict';
import { type Connection, createConnections } from '../../packages/service/src/connections/connection.ts';
import { createPersonSessions } from '../../packages/service/src/identities/session.ts';
import type { ConnectionId, EndUserId, IdentityId } from '../../packages/service/src/kernel/ids.ts';
import { micros } from '../../packages/service/src/kernel/micros.ts';
import type { Browser } from './browser.ts';
import { browserOf, PERSON_COOKIE } from './people.ts';
import type { TestApp, TestService } from './service.ts';

/** Somebody who owns wallets, with a browser in which he is signed in. */
export interface WalletOwner {
  readonly email: string;
  readonly identityId: IdentityId;
  readonly browser: Browser;
  /** Agrees that an app may spend: the wallet is his from then on, as it is. */
  readonly connect: (app: TestApp, user: string, options?: Agreed) => Promise<ConnectionId>;
}

interface Agreed {
  readonly userLabel?: string;
  readonly cap?: number;
}

let owners = 0;

/** A person who has signed in. How he did is the business of other tests. */
export async function newWalletOwner(service: TestService): Promise<WalletOwner> {
  const { database } = service;
  const email = `wallet-owner-${(owners += 1)}@example.test`;
  const browser = await browserOf(service, email);
  const identity = (await createPersonSessions(database.owner).find(browser.cookies.get(PERSON_COOKIE) ?? ''))
    ?.identity;
  assert.ok(identity !== undefined);
  return {
    email,
    identityId: identity.identityId,
    browser,
    connect: async ({ appId }, user, { userLabel, cap } = {}) => {
      const consent = {
        identityId: identity.identityId,
        appId,
        userId: user as EndUserId,
        userLabel,
        cap: cap === undefined ? undefined : micros(BigInt(cap)),
      };
      const connection = await createConnections(database.owner, 'EUR').consent(consent);
      assert.notEqual(connection, 'foreign');
      return (connection as Connection).connectionId;
    },
  };
}
