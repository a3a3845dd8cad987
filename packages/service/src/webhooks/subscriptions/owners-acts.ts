import { changedFacts, type Facts, type Owner, ownersEntry } from '#audit/entry.ts';
import { insertAuditEntry } from '#audit/queries.ts';
import { inTransaction, type Pool } from '#db/pool/pool.ts';
import { sha256 } from '#kernel/crypto/crypto.ts';
import type { AppId } from '#kernel/values/ids.ts';
import {
  deleteSubscription,
  renewDisabled,
  type Secret,
  selectSubscription,
  type Subscribed,
  type SubscriptionRow,
  updateSecret,
  upsertSubscription,
} from '#webhooks/subscriptions/queries.ts';

/** Stores a subscription together with the line in the audit trail. One that changes nothing leaves no line. */
export function storeSubscription(
  pool: Pool,
  owner: Owner,
  wanted: Subscribed,
  secret: Secret,
): ReturnType<typeof upsertSubscription> {
  const { appId } = wanted;
  return inTransaction(pool, async (tx) => {
    const before = await selectSubscription(tx, appId);
    await renewDisabled(tx, appId);
    const stored = await upsertSubscription(tx, wanted, secret);
    const changed = changedFacts(before === undefined ? {} : factsOf(before), factsOf(stored.row));
    const act = { action: 'webhook.put', subject: appId, appId, ...changed };
    if (Object.keys(changed.after).length > 0) await insertAuditEntry(tx, ownersEntry(owner, act));
    return stored;
  });
}

/** Replaces the secret. Undefined without a subscription. */
export function storeSecret(
  pool: Pool,
  owner: Owner,
  appId: AppId,
  secret: Secret,
): Promise<SubscriptionRow | undefined> {
  return inTransaction(pool, async (tx) => {
    const before = await selectSubscription(tx, appId);
    const stored = await updateSecret(tx, appId, secret);
    if (before === undefined || stored === undefined) return undefined;
    const act = { action: 'webhook.secret', subject: appId, appId, ...changedFacts(factsOf(before), factsOf(stored)) };
    await insertAuditEntry(tx, ownersEntry(owner, act));
    return stored;
  });
}

/** Returns false if there is no subscription. */
export function removeSubscription(pool: Pool, owner: Owner, appId: AppId): Promise<boolean> {
  return inTransaction(pool, async (tx) => {
    const before = await selectSubscription(tx, appId);
    if (before === undefined || !(await deleteSubscription(tx, appId))) return false;
    const act = { action: 'webhook.delete', subject: appId, appId, before: factsOf(before) };
    await insertAuditEntry(tx, ownersEntry(owner, act));
    return true;
  });
}

/**
 * A subscription for the audit trail. Of the address only the host is kept, and a digest that shows a change: paths and
 * queries of endpoints often hold a secret.
 */
function factsOf(row: SubscriptionRow): Facts {
  return {
    endpointHost: new URL(row.endpoint_url).host,
    endpointDigest: sha256(row.endpoint_url).toString('hex').slice(0, 16),
    events: row.events,
    lowBalanceThresholdMicros: row.low_balance_threshold_micros,
    status: row.status,
    secretFingerprint: row.secret_fingerprint,
  };
}
