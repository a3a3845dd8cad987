import { selectAppDetails, selectOwnersToTell } from '#developers/apps/operator-queries.ts';
import { emailSealOf } from '#app/secrets/address-seal.ts';
import type { Config } from '#app/settings/config.ts';
import { createSendMail, letterheadOf, type SendMail } from '#app/compose/mail.ts';
import type { Ground, Stoppable } from '#app/process/ground.ts';
import type { ControlPlane } from '#http/planes/control-plane.ts';
import { createPool } from '#db/pool/pool.ts';
import { steadyClock, systemClock } from '#kernel/time/clock.ts';
import type { Keys } from '#kernel/crypto/keys.ts';
import type { Log } from '#kernel/log.ts';
import { createPace } from '#limits/pace.ts';
import { droppedMail } from '#mail/letters.ts';
import type { TellOwner } from '#webhooks/queue/attempts.ts';
import { createCourier } from '#webhooks/delivery/deliver.ts';
import { createEndpointGuard } from '#webhooks/delivery/endpoint-guard.ts';
import { createDeliveryHistory } from '#webhooks/history/history.ts';
import { createListeners } from '#webhooks/listeners/listener.ts';
import { createSigningSecrets } from '#webhooks/delivery/signing-secret.ts';
import { createSubscriptions } from '#webhooks/subscriptions/subscription.ts';
import { createSendTest } from '#webhooks/subscriptions/test-event.ts';
import { startWebhookWorker } from '#webhooks/queue/worker.ts';

const DELIVERIES_CONNECTIONS_MAX = 3;
/** The limit of test events for one app, in one process. */
const TEST_EVENTS = { ratePerMinute: 10, rateBurst: 10 };

/** Subscriptions, and the worker that delivers their events. */
export interface Webhooks
  extends Stoppable,
    Pick<ControlPlane, 'subscriptions' | 'listeners' | 'deliveries' | 'sendTestEvent'> {}

/** Both use one guard, so an address that may not be subscribed may not be called either. One pool is enough of the ground. */
export function openWebhooks(ground: Worked, sendMail: SendMail): Webhooks {
  const { config, keys, clock, log } = ground;
  const pool = ground.pools.planes;
  const guard = createEndpointGuard({ allowPrivate: config.webhookAllowPrivate });
  const secrets = createSigningSecrets(keys.kept('webhook-secrets'));
  const courier = createCourier({ guard, clock });
  const { take: pace } = createPace(TEST_EVENTS, steadyClock);
  const tellOwner = createTellOwner(config, sendMail);
  const { retention, currency } = config;
  const worker = startWebhookWorker({ keptDays: retention.webhookDays, pool, courier, secrets, tellOwner, log });
  return {
    subscriptions: createSubscriptions({ pool, secrets, guard }),
    listeners: createListeners(pool),
    deliveries: createDeliveryHistory(pool),
    sendTestEvent: createSendTest({ pool, courier, secrets, clock, currency, pace }),
    stop: worker.stop,
  };
}

type Worked = Omit<Ground, 'pools'> & { readonly pools: Pick<Ground['pools'], 'planes'> };

/** Mails all owners of an app whose endpoint fails. An app has at most so many members. */
const OWNERS_MAX = 50;

function createTellOwner(config: Config, sendMail: SendMail): TellOwner {
  return async (tx, { appId, ...trouble }) => {
    const app = await selectAppDetails(tx, appId);
    if (app === undefined) return;
    const letter = droppedMail({ ...letterheadOf(config), ...trouble, appId, appName: app.name });
    for (const email of await selectOwnersToTell(tx, appId, OWNERS_MAX)) await sendMail(email, letter, tx);
  };
}

/** Starts a delivery worker in a process that does nothing else (`purser work`). */
export function startWork(config: Config, keys: Keys, log: Log, url: string): { readonly stop: () => Promise<void> } {
  const emails = emailSealOf(keys);
  const planes = createPool({ url, role: 'live', connectionsMax: DELIVERIES_CONNECTIONS_MAX, log, emails });
  const ground = { config, keys, pools: { planes }, clock: systemClock, log };
  const { stop } = openWebhooks(ground, createSendMail(config, planes, log));
  return {
    stop: async () => {
      await stop();
      await planes.end();
    },
  };
}
