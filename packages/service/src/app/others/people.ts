import { createBoundKeys } from '#developers/keys/bound-keys.ts';
import { createAppProfiles } from '#developers/apps/profile.ts';
import type { ApiKeys } from '#app/compose/api-keys.ts';
import type { Ground } from '#app/process/ground.ts';
import type { CellPeople } from '#app/cells/people.ts';
import type { Mail } from '#app/compose/mail.ts';
import type { Payments } from '#app/compose/payments.ts';
import type { UserHistory } from '#app/reports/user-movements.ts';
import { directoryOf } from '#cells/directory/directory.ts';
import { createCapAlerts } from '#connections/alerts.ts';
import { createConnections } from '#connections/connection.ts';
import type { Pool } from '#db/pool/pool.ts';
import type { ControlPlane } from '#http/planes/control-plane.ts';
import type { Throttle } from '#limits/throttle.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/services.ts';
import { codeMail, passkeyMail, wayInMail } from '#mail/letters.ts';
import { createCodeSignIns } from '#people/email-code.ts';
import { createPasskeys } from '#people/passkeys.ts';
import { createPersonSessions } from '#people/session.ts';
import { createAttemptLimiter } from '#limits/attempt-limiter.ts';
import { createPrivacy } from '#privacy/privacy.ts';

interface WalletOwnerNeeds extends Pick<WalletOwnerServices, 'links' | 'catalogue'> {
  /** What they share with app owners. */
  readonly control: Pick<ControlPlane, 'addressOf' | 'readBudgets' | 'whenEverywhere'>;
  /** It is shared with the control plane: one set of buckets. */
  readonly throttle: Throttle;
  readonly history: Pick<UserHistory, 'movements' | 'usage'>;
  readonly mail: Mail;
  /** The payments. They are undefined when no payment processor is configured. */
  readonly payments: Payments | undefined;
  readonly cellPeople: CellPeople;
  /** This process's keys, which are loaded again after one was stopped. */
  readonly apiKeys: Pick<ApiKeys, 'refresh'>;
}

/** Opens what the pages of wallet owners act on. */
export function openWalletOwners(ground: Ground, needs: WalletOwnerNeeds): Omit<WalletOwnerServices, 'cookies'> {
  const { config, keys, clock } = ground;
  const { control, throttle, history, payments, mail } = needs;
  const pool = ground.pools.planes;
  const attempts = createAttemptLimiter(throttle, keys.kept('person-tries'));
  const { operatorName, publicUrl, currency } = config;
  return {
    sessions: createPersonSessions(pool),
    codes: createCodeSignIns({
      pool,
      clock,
      attempts,
      keys,
      sendCode: ({ email, ...said }) => mail.send(email, codeMail({ operatorName, ...said })),
      sendWayIn: (email, token) => mail.send(email, wayInMail({ ...mail.letterhead, token })),
    }),
    passkeys: createPasskeys({
      publicUrl,
      operatorName,
      keys,
      pool,
      clock,
      sendAdded: (tx, { email }) => mail.send(email, passkeyMail(mail.letterhead), tx),
    }),
    connections: createConnections(pool, currency),
    alerts: createCapAlerts(pool),
    privacy: createPrivacy(pool),
    links: needs.links,
    otherCells: needs.cellPeople.otherCells,
    boundKeys: openBoundKeys(pool, needs.apiKeys.refresh),
    readBudgets: control.readBudgets,
    whenEverywhere: control.whenEverywhere,
    catalogue: needs.catalogue,
    publicUrl,
    clock,
    apps: createAppProfiles(pool),
    movements: history.movements,
    usage: history.usage,
    checkouts: payments?.checkouts,
    refunds: payments?.refunds,
    testBank: payments?.testBank,
    attempts,
    addressOf: control.addressOf,
    currency,
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
