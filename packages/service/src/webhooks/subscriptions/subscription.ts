import type { EventType } from '@purser/contract/webhooks.ts';
import type { Owner } from '#audit/entry.ts';
import type { Pool } from '#db/pool/pool.ts';
import type { AppId } from '#kernel/values/ids.ts';
import { type Micros, microsFromRow } from '#kernel/values/micros.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { sleep } from '#kernel/time/sleep.ts';
import type { EndpointGuard } from '#webhooks/delivery/endpoint-guard.ts';
import { removeSubscription, storeSecret, storeSubscription } from '#webhooks/subscriptions/owners-acts.ts';
import { isSending } from '#webhooks/queue/queries.ts';
import { selectSubscription, type SubscriptionRow } from '#webhooks/subscriptions/queries.ts';
import type { SigningSecrets } from '#webhooks/delivery/signing-secret.ts';
import { dropAllStale } from '#webhooks/queue/upkeep.ts';

/** Where an app's events go. Each app has at most one subscription (WH-01). */
export interface Subscription {
  readonly appId: AppId;
  readonly endpointUrl: string;
  readonly events: readonly EventType[];
  readonly threshold: Micros | undefined;
  readonly status: 'active' | 'disabled';
  readonly disabledReason: 'delivery_failures' | undefined;
  /** Events dropped since one was delivered. */
  readonly droppedInRow: number;
  readonly secretFingerprint: string;
}

export interface Subscriptions {
  /**
   * Creates, replaces or re-enables the subscription and resets its failures. `signingSecret` is set only if the
   * subscription is new. Resolves when no attempt with the old endpoint is in progress, after 6 s at most.
   */
  readonly put: (owner: Owner, wanted: WantedSubscription) => Promise<PutSubscription | Refusal<'BAD_REQUEST'>>;
  readonly find: (appId: AppId) => Promise<Subscription | undefined>;
  /** Replaces the secret at once: no later attempt is signed with the old one. Undefined without a subscription. */
  readonly rotate: (
    owner: Owner,
    appId: AppId,
  ) => Promise<{ readonly subscription: Subscription; readonly signingSecret: string } | undefined>;
  /** Ends the subscription: nothing is sent after this resolves. Returns false if there was none. */
  readonly remove: (owner: Owner, appId: AppId) => Promise<boolean>;
}

interface WantedSubscription {
  readonly appId: AppId;
  readonly endpointUrl: string;
  readonly events: readonly EventType[];
  readonly threshold: Micros | undefined;
}

interface PutSubscription {
  readonly subscription: Subscription;
  readonly signingSecret: string | undefined;
}

interface SubscriptionsOptions {
  readonly pool: Pool;
  readonly secrets: SigningSecrets;
  readonly guard: EndpointGuard;
}

/** An attempt lasts 5 s at most. A worker that is stalled for longer must not block the owner's request. */
const BARRIER_MS_MAX = 6_000;
const BARRIER_STEP_MS = 25;

export function createSubscriptions({ pool, secrets, guard }: SubscriptionsOptions): Subscriptions {
  /**
   * Waits until no attempt with the replaced endpoint or secret is in progress. Workers end such attempts within 100 ms.
   * After that the owner may rely on it: the old endpoint gets nothing more.
   */
  async function whenOthersEnded(appId: AppId, generation: bigint | undefined): Promise<void> {
    for (let waitedMs = 0; waitedMs < BARRIER_MS_MAX; waitedMs += BARRIER_STEP_MS) {
      if (!(await isSending(pool, appId, generation))) return;
      await sleep(BARRIER_STEP_MS);
    }
  }

  function newSecret(appId: AppId) {
    const text = secrets.create();
    return { text, sealed: secrets.seal(appId, text), fingerprint: secrets.fingerprintOf(text) };
  }

  return {
    put: async (owner, wanted) => {
      const { appId, endpointUrl } = wanted;
      const fault = await guard.refuse(endpointUrl);
      if (fault !== undefined) return refuse('BAD_REQUEST', `\`endpointUrl\` ${fault}.`, { param: 'endpointUrl' });
      const secret = newSecret(appId); // Used only if the subscription is new; replacing keeps the old secret.
      const { row, isNew } = await storeSubscription(pool, owner, wanted, secret);
      await whenOthersEnded(appId, row.generation);
      await dropAllStale(pool, appId);
      return { subscription: subscriptionOf(row), signingSecret: isNew ? secret.text : undefined };
    },
    find: async (appId) => {
      const row = await selectSubscription(pool, appId);
      return row === undefined ? undefined : subscriptionOf(row);
    },
    rotate: async (owner, appId) => {
      const secret = newSecret(appId);
      const row = await storeSecret(pool, owner, appId, secret);
      if (row === undefined) return undefined;
      await whenOthersEnded(appId, row.generation);
      return { subscription: subscriptionOf(row), signingSecret: secret.text };
    },
    remove: async (owner, appId) => {
      if (!(await removeSubscription(pool, owner, appId))) return false;
      await whenOthersEnded(appId, undefined);
      await dropAllStale(pool, appId);
      return true;
    },
  };
}

function subscriptionOf(row: SubscriptionRow): Subscription {
  return {
    appId: row.app_id,
    endpointUrl: row.endpoint_url,
    events: row.events,
    threshold: row.low_balance_threshold_micros === null ? undefined : microsFromRow(row.low_balance_threshold_micros),
    status: row.status,
    disabledReason: row.disabled_reason ?? undefined,
    droppedInRow: row.exhausted_in_row,
    secretFingerprint: row.secret_fingerprint,
  };
}
