import { after } from 'node:test';
import { createConnections } from '../../packages/service/src/connections/connection.ts';
import { createPool } from '../../packages/service/src/db/pool/pool.ts';
import type { Email } from '../../packages/service/src/people/email.ts';
import { createPersonSessions, type Identity } from '../../packages/service/src/people/session.ts';
import type { AppId, EndUserId } from '../../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import type { TestDatabase } from './database.ts';

interface Consented {
  readonly identity: Identity;
  readonly appId: AppId;
  readonly user: string;
  readonly cap?: number | undefined;
  readonly userLabel?: string;
  /** Whether the consent was given by a link that was made long after the wallet was released. */
  readonly isLater?: boolean;
}

let people = 0;

export function connectionsOf({ url, owner }: TestDatabase) {
  const pool = createPool({ url, role: 'live', connectionsMax: 4, log: createLog('silent'), emails: owner.emails });
  after(() => pool.end());
  const connections = createConnections(pool, 'EUR');
  const sessions = createPersonSessions(owner);
  return {
    ...connections,
    /** A person who has shown that this address is theirs. */
    newIdentity: async (email: string = `person-${(people += 1)}@example.test`) =>
      (await sessions.open(email as Email)).identity,
    /** Consents, and fails if the wallet is another identity's. */
    connect: async ({ identity, appId, user, cap, userLabel, isLater = false }: Consented) => {
      const made = await connections.consent({
        identityId: identity.identityId,
        appId,
        userId: user as EndUserId,
        userLabel,
        cap: cap === undefined ? undefined : micros(BigInt(cap)),
        linkBeganAtMs: Date.now() + (isLater ? 60_000 : 0),
      });
      if (typeof made === 'string') throw new Error(`The wallet was not connected: ${made}.`);
      return made;
    },
  };
}
