import type { ConnectionId, IdentityId } from '../../packages/service/src/kernel/ids.ts';
import type { Browser } from './browser.ts';
import { connectionsOf } from './connections.ts';
import { browserOf } from './people.ts';
import type { TestApp, TestService } from './service.ts';

/** A person who owns wallets, with a browser in which they are signed in. */
export interface WalletOwner {
  readonly email: string;
  readonly identityId: IdentityId;
  readonly browser: Browser;
  /** Agrees that an app may spend. From then on the wallet is theirs, with what is in it. */
  readonly connect: (app: TestApp, user: string, options?: Agreed) => Promise<ConnectionId>;
}

interface Agreed {
  readonly userLabel?: string;
  readonly cap?: number;
  /** Whether the consent was given by a link that was made long after the wallet was released. */
  readonly isLater?: boolean;
}

let owners = 0;

/**
 * This is called once by a test file. It returns a function that creates people. Other tests cover how they sign in.
 */
export function walletOwnersOf(service: TestService): () => Promise<WalletOwner> {
  const connections = connectionsOf(service.database);
  return async () => {
    const email = `wallet-owner-${(owners += 1)}@example.test`;
    const identity = await connections.newIdentity(email);
    return {
      email,
      identityId: identity.identityId,
      browser: await browserOf(service, email),
      connect: async ({ appId }, user, agreed = {}) =>
        (await connections.connect({ identity, appId, user, ...agreed })).connectionId,
    };
  };
}
