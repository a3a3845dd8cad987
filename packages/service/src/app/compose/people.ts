import { createBoundKeys } from '#developers/keys/bound-keys.ts';
import { createAppProfiles } from '#developers/apps/profile.ts';
import type { CellPeople } from '#app/cells/people.ts';
import type { Config } from '#app/settings/config.ts';
import type { SendMail } from '#app/compose/mail.ts';
import type { Payments } from '#app/compose/payments.ts';
import type { UserHistory } from '#app/reports/user-movements.ts';
import { directoryOf } from '#cells/directory/directory.ts';
import { createCapAlerts } from '#connections/alerts.ts';
import { createConnections } from '#connections/connection.ts';
import type { Links } from '#connections/link.ts';
import type { Pool } from '#db/pool/pool.ts';
import type { CallerAddress } from '#http/requests/caller-address.ts';
import type { Throttle } from '#limits/throttle.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/services.ts';
import { codeMail, passkeyMail, wayInMail } from '#mail/letters.ts';
import { createCodeSignIns } from '#people/email-code.ts';
import { createPasskeys } from '#people/passkeys.ts';
import { createPersonSessions } from '#people/session.ts';
import type { Clock } from '#kernel/time/clock.ts';
import type { Keys } from '#kernel/crypto/keys.ts';
import { createAttemptLimiter } from '#limits/attempt-limiter.ts';
import { createPrivacy } from '#privacy/privacy.ts';

/** What the pages of wallet owners are made of. `throttle` is shared with the control plane: one set of buckets. */
interface PeopleOptions {
  readonly config: Config;
  readonly keys: Keys;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly throttle: Throttle;
  readonly links: Links;
  readonly addressOf: CallerAddress;
  readonly history: Pick<UserHistory, 'movements' | 'usage'>;
  readonly sendMail: SendMail;
  /** The payments. They are undefined when no payment processor is configured. */
  readonly payments: Payments | undefined;
  /** What is asked of other cells. It is undefined if there are none. */
  readonly otherCells: CellPeople['otherCells'];
  /** This process's keys, which are loaded again after one was stopped. */
  readonly apiKeys: { readonly refresh: () => Promise<void> };
  readonly readBudgets: WalletOwnerServices['readBudgets'];
  readonly whenEverywhere: WalletOwnerServices['whenEverywhere'];
  readonly catalogue: WalletOwnerServices['catalogue'];
}

/** Wires the pages of wallet owners to the modules they act on. */
export function composePeople({
  config,
  keys,
  pool,
  clock,
  throttle,
  links,
  addressOf,
  history,
  sendMail,
  payments,
  otherCells,
  apiKeys,
  ...shared
}: PeopleOptions): Omit<WalletOwnerServices, 'cookies'> {
  const attempts = createAttemptLimiter(throttle, keys.kept('person-tries'));
  const { operatorName } = config;
  return {
    sessions: createPersonSessions(pool),
    codes: createCodeSignIns({
      pool,
      clock,
      attempts,
      keys,
      sendCode: ({ email, ...said }) => sendMail(email, codeMail({ operatorName, ...said })),
      sendWayIn: (email, token) => sendMail(email, wayInMail({ ...config, token })),
    }),
    passkeys: createPasskeys({
      ...config,
      keys,
      pool,
      clock,
      sendAdded: (tx, { email }) => sendMail(email, passkeyMail(config), tx),
    }),
    connections: createConnections(pool, config.currency),
    alerts: createCapAlerts(pool),
    privacy: createPrivacy(pool),
    links,
    otherCells,
    boundKeys: openBoundKeys(pool, apiKeys.refresh),
    readBudgets: shared.readBudgets,
    whenEverywhere: shared.whenEverywhere,
    catalogue: shared.catalogue,
    publicUrl: config.publicUrl,
    clock,
    apps: createAppProfiles(pool),
    movements: history.movements,
    usage: history.usage,
    checkouts: payments?.checkouts,
    refunds: payments?.refunds,
    testBank: payments?.testBank,
    attempts,
    addressOf,
    currency: config.currency,
    operatorName,
    supportEmail: config.supportEmail,
    statusPage: config.statusPage,
    isTestMoney: config.payments.processor === 'test',
  };
}

/** In other cells than the directory's, a key can be seen and not be stopped. */
function openBoundKeys(pool: Pool, refresh: () => Promise<void>): WalletOwnerServices['boundKeys'] {
  const { list, stop } = createBoundKeys({ pool, refresh });
  return {
    list,
    stop: async (owner, keyId) => {
      try {
        return (await stop(owner, keyId)) ? 'stopped' : 'none';
      } catch (fault) {
        if (directoryOf(fault) === undefined) throw fault;
        return 'elsewhere';
      }
    },
  };
}
