import { createAppFaces } from '#accounts/app-face.ts';
import type { Config } from '#app/config.ts';
import type { Payments } from '#app/payments.ts';
import { createConnections } from '#connections/connection.ts';
import type { Links } from '#connections/link.ts';
import type { Pool } from '#db/pool.ts';
import type { CallerAddress } from '#http/caller-address.ts';
import type { PeoplePages } from '#http/pages/people-pages.ts';
import { createPersonSessions } from '#identities/session.ts';
import { deriveKey } from '#kernel/crypto.ts';
import { createTries, type Throttle } from '#limits/tries.ts';

interface PeopleOptions {
  readonly config: Config;
  readonly pool: Pool;
  readonly throttle: Throttle;
  readonly links: Links;
  readonly addressOf: CallerAddress;
  /** Undefined: nobody can pay. */
  readonly payments: Payments | undefined;
}

/** What people who own wallets do, joined to what it acts on. */
export function composePeople({
  config,
  pool,
  throttle,
  links,
  addressOf,
  payments,
}: PeopleOptions): Omit<PeoplePages, 'cookies'> {
  return {
    sessions: createPersonSessions(pool),
    connections: createConnections(pool, config.currency),
    links,
    apps: createAppFaces(pool),
    tries: createTries(throttle, deriveKey(config.secret, 'person-tries')),
    addressOf,
    operatorName: config.operatorName,
    checkouts: payments?.checkouts,
    refunds: payments?.refunds,
    isTestMoney: config.payments.processor === 'test',
  };
}
