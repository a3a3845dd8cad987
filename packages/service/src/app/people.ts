import { createAppFaces } from '#accounts/app-face.ts';
import type { Config } from '#app/config.ts';
import type { SendMail } from '#app/mail.ts';
import type { Payments } from '#app/payments.ts';
import { createConnections } from '#connections/connection.ts';
import type { Links } from '#connections/link.ts';
import type { Pool } from '#db/pool.ts';
import type { CallerAddress } from '#http/caller-address.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/wallet-owner-services.ts';
import { codeMail, passkeyMail } from '#mail/letters.ts';
import { createCodeSignIns } from '#identities/code.ts';
import { createPasskeys } from '#identities/passkeys.ts';
import { createPersonSessions } from '#identities/session.ts';
import type { Clock } from '#kernel/clock.ts';
import { deriveKey } from '#kernel/crypto.ts';
import { createWalletMovements } from '#ledger/wallet/movements.ts';
import { createTries, type Throttle } from '#limits/tries.ts';
import type { AppUsage } from '#usage/report.ts';
import { createUsage } from '#usage/usage.ts';

interface PeopleOptions {
  readonly config: Config;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly throttle: Throttle;
  readonly links: Links;
  readonly addressOf: CallerAddress;
  readonly appUsage: AppUsage;
  readonly sendMail: SendMail;
  /** Undefined: nobody can pay. */
  readonly payments: Payments | undefined;
}

/** What people who own wallets do, joined to what it acts on. */
export function composePeople({
  config,
  pool,
  clock,
  throttle,
  links,
  addressOf,
  appUsage,
  sendMail,
  payments,
}: PeopleOptions): Omit<WalletOwnerServices, 'cookies'> {
  const tries = createTries(throttle, deriveKey(config.secret, 'person-tries'));
  const { operatorName } = config;
  return {
    sessions: createPersonSessions(pool),
    codes: createCodeSignIns({
      pool,
      tries,
      secret: config.secret,
      sendCode: ({ email, ...said }) => sendMail(email, codeMail({ operatorName, ...said })),
    }),
    passkeys: createPasskeys({
      ...config,
      pool,
      clock,
      sendAdded: (tx, { email }) => sendMail(email, passkeyMail(config), tx),
    }),
    connections: createConnections(pool, config.currency),
    links,
    apps: createAppFaces(pool),
    movements: createWalletMovements(pool),
    usage: createUsage(pool),
    receipts: appUsage,
    checkouts: payments?.checkouts,
    refunds: payments?.refunds,
    testBank: payments?.testBank,
    tries,
    addressOf,
    currency: config.currency,
    operatorName,
    supportEmail: config.supportEmail,
    isTestMoney: config.payments.processor === 'test',
  };
}
