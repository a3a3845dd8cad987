import type { EventType } from '@purser/contract/webhooks.ts';
import type { Queryable } from '#db/pool/pool.ts';
import type { AppId } from '#kernel/values/ids.ts';

export interface SubscriptionRow {
  readonly app_id: AppId;
  readonly generation: bigint;
  readonly endpoint_url: string;
  readonly events: readonly EventType[];
  readonly low_balance_threshold_micros: bigint | null;
  readonly sealed_secret: Buffer;
  readonly secret_fingerprint: string;
  readonly status: 'active' | 'disabled';
  readonly disabled_reason: 'delivery_failures' | null;
  readonly exhausted_in_row: number;
}

const COLUMNS = `app_id, generation, endpoint_url, events, low_balance_threshold_micros, sealed_secret, secret_fingerprint,
  status, disabled_reason, exhausted_in_row`;

export async function selectSubscription(db: Queryable, appId: AppId): Promise<SubscriptionRow | undefined> {
  const { rows } = await db.query<SubscriptionRow>(
    `select ${COLUMNS} from webhooks.subscriptions where app_id = $1 and listener_id is null`,
    [appId],
  );
  return rows[0];
}

export interface Secret {
  readonly sealed: Buffer;
  readonly fingerprint: string;
}

export interface Subscribed {
  readonly appId: AppId;
  readonly endpointUrl: string;
  readonly events: readonly EventType[];
  readonly threshold: bigint | undefined;
}

/** Gives a disabled subscription a new id, so that events which waited for the old one are never sent. */
export async function renewDisabled(tx: Queryable, appId: AppId): Promise<void> {
  await tx.query(
    `update webhooks.subscriptions set subscription_id = nextval('webhooks.generations')
     where app_id = $1 and listener_id is null and status = 'disabled'`,
    [appId],
  );
}

/**
 * Creates the subscription, or replaces everything but its secret. The update sets no key column, so its row lock does not
 * block the ledger's transactions that look up the receivers of an event.
 */
export async function upsertSubscription(
  db: Queryable,
  { appId, endpointUrl, events, threshold }: Subscribed,
  secret: Secret,
): Promise<{ readonly row: SubscriptionRow; readonly isNew: boolean }> {
  const { rows } = await db.query<SubscriptionRow & { is_new: boolean }>(
    `insert into webhooks.subscriptions
       (app_id, endpoint_url, events, low_balance_threshold_micros, sealed_secret, secret_fingerprint)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (app_id, listener_id) do update set
       generation = nextval('webhooks.generations'), endpoint_url = $2, events = $3, low_balance_threshold_micros = $4,
       status = 'active', disabled_reason = null, failures_in_row = 0, exhausted_in_row = 0,
       last_failed_at = null, last_failed_status = null, last_failed_error = null
     returning ${COLUMNS}, xmax = 0 as is_new`,
    [appId, endpointUrl, events, threshold ?? null, secret.sealed, secret.fingerprint],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('The subscription could not be stored.');
  return { row, isNew: row.is_new };
}

export async function updateSecret(db: Queryable, appId: AppId, secret: Secret): Promise<SubscriptionRow | undefined> {
  const { rows } = await db.query<SubscriptionRow>(
    `update webhooks.subscriptions
     set sealed_secret = $2, secret_fingerprint = $3, generation = nextval('webhooks.generations')
     where app_id = $1 and listener_id is null returning ${COLUMNS}`,
    [appId, secret.sealed, secret.fingerprint],
  );
  return rows[0];
}

interface SealedSecretRow {
  readonly app_id: AppId;
  readonly sealed_secret: Buffer;
}

/** Every app's sealed signing secret, locked until the transaction ends. */
export async function lockSealedSecrets(tx: Queryable): Promise<readonly SealedSecretRow[]> {
  const { rows } = await tx.query<SealedSecretRow>(
    `select app_id, sealed_secret from webhooks.subscriptions where sealed_secret is not null for update`,
  );
  return rows;
}

/** Stores the same secrets in another sealing: nothing changes for the apps. */
export async function updateSealedSecrets(tx: Queryable, rows: readonly SealedSecretRow[]): Promise<void> {
  await tx.query(
    `update webhooks.subscriptions s set sealed_secret = n.sealed
     from unnest($1::text[], $2::bytea[]) as n(app_id, sealed)
     where s.app_id = n.app_id and s.sealed_secret is not null`,
    [rows.map((row) => row.app_id), rows.map((row) => row.sealed_secret)],
  );
}

/** Returns false if there was no subscription. `dropStale` drops the events that waited for it. */
export async function deleteSubscription(db: Queryable, appId: AppId): Promise<boolean> {
  const { rowCount } = await db.query('delete from webhooks.subscriptions where app_id = $1 and listener_id is null', [
    appId,
  ]);
  return rowCount === 1;
}
