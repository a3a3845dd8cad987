import { createListenTokens, type ListenTokens } from '#developers/teams/listen-token.ts';
import { selectAppDetails, selectOwnersToTell } from '#developers/apps/operator-queries.ts';
import { emailSealOf } from '#app/secrets/address-seal.ts';
import type { Config } from '#app/settings/config.ts';
import { createSendMail } from '#app/compose/mail.ts';
import { createPool, type Pool } from '#db/pool/pool.ts';
import { type Clock, steadyClock, systemClock } from '#kernel/time/clock.ts';
import type { Keys } from '#kernel/crypto/keys.ts';
import type { Log } from '#kernel/log.ts';
import { createPace } from '#limits/pace.ts';
import { droppedMail } from '#mail/letters.ts';
import type { TellOwner } from '#webhooks/queue/attempts.ts';
import { createCourier } from '#webhooks/delivery/deliver.ts';
import { createEndpointGuard } from '#webhooks/delivery/endpoint-guard.ts';
import { createDeliveryHistory, type DeliveryHistory } from '#webhooks/history/history.ts';
import { createListeners, type Listeners } from '#webhooks/listeners/listener.ts';
import { createSigningSecrets } from '#webhooks/delivery/signing-secret.ts';
import { createSubscriptions, type Subscriptions } from '#webhooks/subscriptions/subscription.ts';
import { createSendTest, type SendTest } from '#webhooks/subscriptions/test-event.ts';
import { startWebhookWorker, type WebhookWorker } from '#webhooks/queue/worker.ts';

interface WebhooksOptions {
  readonly config: Config;
  readonly keys: Keys;
  readonly pools: {
    readonly planes: Pool;
    /** The pool that only the delivery worker uses. */
    readonly deliveries: Pool;
  };
  readonly clock: Clock;
  readonly log: Log;
}

const DELIVERIES_CONNECTIONS_MAX = 3;
/** The limit of test events for one app, in one process. */
const TEST_EVENTS = { ratePerMinute: 10, rateBurst: 10 };

/**
 * Wires subscriptions and the worker that delivers their events. Both use one guard, so an address that may not be
 * subscribed may not be called either.
 */
export function composeWebhooks({ config, keys, pools, clock, log }: WebhooksOptions): {
  readonly subscriptions: Subscriptions;
  readonly listeners: Listeners;
  readonly listenTokens: ListenTokens;
  readonly deliveries: DeliveryHistory;
  readonly sendTestEvent: SendTest;
  readonly worker: WebhookWorker;
} {
  const guard = createEndpointGuard({ allowPrivate: config.webhookAllowPrivate });
  const secrets = createSigningSecrets(keys.kept('webhook-secrets'));
  const courier = createCourier({ guard, clock });
  const testPace = createPace(TEST_EVENTS, steadyClock);
  return {
    subscriptions: createSubscriptions({ pool: pools.planes, secrets, guard }),
    listeners: createListeners(pools.planes),
    listenTokens: createListenTokens(pools.planes),
    deliveries: createDeliveryHistory(pools.planes),
    sendTestEvent: createSendTest({
      pool: pools.planes,
      courier,
      secrets,
      clock,
      currency: config.currency,
      pace: testPace.take,
    }),
    worker: startWebhookWorker({
      keptDays: config.retention.webhookDays,
      pool: pools.deliveries,
      courier,
      secrets,
      tellOwner: createTellOwner(config, pools.deliveries, log),
      log,
    }),
  };
}

/** Mails all owners of an app whose endpoint fails. An app has at most so many members. */
const OWNERS_MAX = 50;

function createTellOwner(config: Config, pool: Pool, log: Log): TellOwner {
  const sendMail = createSendMail({ config, pool, log });
  return async (tx, { appId, ...trouble }) => {
    const app = await selectAppDetails(tx, appId);
    if (app === undefined) return;
    const letter = droppedMail({ ...config, ...trouble, appId, appName: app.name });
    for (const email of await selectOwnersToTell(tx, appId, OWNERS_MAX)) await sendMail(email, letter, tx);
  };
}

/** Starts a delivery worker in a process that does nothing else (`purser work`). */
export function startWork(
  config: Config,
  keys: Keys,
  log: Log,
  databaseUrl: string,
): { readonly stop: () => Promise<void> } {
  const own = createPool({
    url: databaseUrl,
    role: 'live',
    connectionsMax: DELIVERIES_CONNECTIONS_MAX,
    log,
    emails: emailSealOf(keys),
  });
  const { worker } = composeWebhooks({
    config,
    keys,
    pools: { planes: own, deliveries: own },
    clock: systemClock,
    log,
  });
  return {
    stop: async () => {
      await worker.stop();
      await own.end();
    },
  };
}
