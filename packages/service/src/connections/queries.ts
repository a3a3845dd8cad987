import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, ConnectionId, EndUserId, IdentityId } from '#kernel/values/ids.ts';

export interface ConnectionRow {
  readonly connection_id: ConnectionId;
  readonly app_id: AppId;
  readonly user_id: EndUserId;
  readonly identity_id: IdentityId;
  readonly user_label: string | null;
  readonly consented_at: Date;
  readonly is_paused: boolean;
  readonly cap_before_pause_micros: bigint | null;
}

const COLUMNS = `connection_id, app_id, user_id, identity_id, user_label, consented_at, is_paused,
  cap_before_pause_micros`;

/** Finds the connection of an (app, user). Any identity may own it. */
export async function selectConnection(
  db: Queryable,
  appId: AppId,
  userId: EndUserId,
): Promise<ConnectionRow | undefined> {
  const { rows } = await db.query<ConnectionRow>(
    `select ${COLUMNS} from connections.connections where app_id = $1 and user_id = $2`,
    [appId, userId],
  );
  return rows[0];
}

interface Owner {
  readonly identityId: IdentityId;
  readonly connectionId: ConnectionId;
}

/** Finds a connection by id. Undefined when the identity does not own it. */
export async function selectConnectionOf(db: Queryable, owner: Owner): Promise<ConnectionRow | undefined> {
  const { rows } = await db.query<ConnectionRow>(
    `select ${COLUMNS} from connections.connections where connection_id = $1 and identity_id = $2`,
    [owner.connectionId, owner.identityId],
  );
  return rows[0];
}

/** Finds a connection of any identity by its id, for operators. */
export async function selectConnectionById(db: Queryable, connectionId: string): Promise<ConnectionRow | undefined> {
  const { rows } = await db.query<ConnectionRow>(
    `select ${COLUMNS} from connections.connections where connection_id = $1`,
    [connectionId],
  );
  return rows[0];
}

/** Finds a connection and locks it, so that changes to it run one after the other. */
export async function lockConnection(tx: Queryable, owner: Owner): Promise<ConnectionRow | undefined> {
  const { rows } = await tx.query<ConnectionRow>(
    `select ${COLUMNS} from connections.connections where connection_id = $1 and identity_id = $2 for no key update`,
    [owner.connectionId, owner.identityId],
  );
  return rows[0];
}

/** Lists an identity's connections, newest first. */
export async function selectConnectionsOf(
  db: Queryable,
  identityId: IdentityId,
  most: number,
): Promise<readonly ConnectionRow[]> {
  const { rows } = await db.query<ConnectionRow>(
    `select ${COLUMNS} from connections.connections where identity_id = $1
     order by consented_at desc, connection_id limit $2`,
    [identityId, most],
  );
  return rows;
}

/** Returns true when the identity owns any connection of the app. */
export async function hasConnection(db: Queryable, identityId: IdentityId, appId: AppId): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from connections.connections where identity_id = $1 and app_id = $2 limit 1`,
    [identityId, appId],
  );
  return rowCount === 1;
}

interface Consent {
  readonly connectionId: ConnectionId;
  readonly appId: AppId;
  readonly userId: EndUserId;
  readonly identityId: IdentityId;
  readonly userLabel: string | undefined;
}

/**
 * Returns the connection of an (app, user), locked. Creates one for this identity when there is none. An existing one keeps
 * its identity, so the caller must compare it. The update is what locks the row; only the owner's own label changes.
 */
export async function upsertConnection(tx: Queryable, consent: Consent): Promise<ConnectionRow | undefined> {
  const { rows } = await tx.query<ConnectionRow>(
    `insert into connections.connections (connection_id, app_id, user_id, identity_id, user_label)
     values ($1, $2, $3, $4, $5)
     on conflict (app_id, user_id) do update set
       user_label = case when connections.connections.identity_id = excluded.identity_id
         then coalesce(excluded.user_label, connections.connections.user_label)
         else connections.connections.user_label end
     returning ${COLUMNS}`,
    [consent.connectionId, consent.appId, consent.userId, consent.identityId, consent.userLabel ?? null],
  );
  return rows[0];
}

/** Removes a connection, see `release.sql`. Undefined when there is none. */
export async function releaseConnection(
  tx: Queryable,
  appId: AppId,
  userId: EndUserId,
): Promise<Pick<ConnectionRow, 'identity_id' | 'is_paused' | 'cap_before_pause_micros'> | undefined> {
  const { rows } = await tx.query<Pick<ConnectionRow, 'identity_id' | 'is_paused' | 'cap_before_pause_micros'>>(
    'select identity_id, is_paused, cap_before_pause_micros from connections.release($1, $2)',
    [appId, userId],
  );
  return rows[0];
}

/**
 * Returns true when the wallet was released after this moment, by the clock of a gateway, or at most `marginMs` before
 * it.
 */
export async function wasReleasedAfter(
  tx: Queryable,
  wallet: { readonly appId: AppId; readonly userId: EndUserId },
  atMs: number,
  marginMs: number,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    'select from connections.releases where app_id = $1 and user_id = $2 and released_at > to_timestamp($3)',
    [wallet.appId, wallet.userId, (atMs - marginMs) / 1_000],
  );
  return rowCount === 1;
}

/** When the wallet was released last. Undefined if it never was. */
export async function selectReleaseMoment(
  db: Queryable,
  wallet: { readonly appId: AppId; readonly userId: EndUserId },
): Promise<Date | undefined> {
  const { rows } = await db.query<{ released_at: Date }>(
    'select released_at from connections.releases where app_id = $1 and user_id = $2',
    [wallet.appId, wallet.userId],
  );
  return rows[0]?.released_at;
}

/**
 * Returns true if the owner of a wallet was deleted after this moment, or was the last owner (CP-12). Until the
 * transaction ends, the owner of today cannot be deleted: see `is_owner_deleted.sql`. Call it under the checkout's
 * lock, and before the wallet's.
 */
export async function isOwnerDeleted(
  tx: Queryable,
  wallet: { readonly appId: AppId; readonly userId: EndUserId },
  since: Date,
): Promise<boolean> {
  const { rows } = await tx.query<{ is_deleted: boolean }>(
    'select connections.is_owner_deleted($1, $2, $3) as is_deleted',
    [wallet.appId, wallet.userId, since],
  );
  return rows[0]?.is_deleted ?? false;
}

/**
 * Whether a wallet was released from its owner since a moment, or since the transaction began, or is released while this waits. Until the transaction ends, the owner
 * of today keeps it. Call it before the wallet is locked.
 */
export async function isReleasedSince(
  tx: Queryable,
  wallet: { readonly appId: string; readonly userId: string },
  since?: Date,
): Promise<boolean> {
  const { rows } = await tx.query<{ is_released: boolean }>(
    'select connections.is_released_since($1, $2, $3) as is_released',
    [wallet.appId, wallet.userId, since ?? null],
  );
  return rows[0]?.is_released ?? false;
}

/** Notes that a release was the deletion of the owner. */
export async function markDeletion(
  tx: Queryable,
  wallet: { readonly appId: AppId; readonly userId: EndUserId },
): Promise<void> {
  await tx.query('update connections.releases set is_deletion = true where app_id = $1 and user_id = $2', [
    wallet.appId,
    wallet.userId,
  ]);
}

/** Sets or ends the pause, with the cap that comes back afterwards. */
export async function updatePause(
  tx: Queryable,
  pause: {
    readonly connectionId: ConnectionId;
    readonly isPaused: boolean;
    readonly capBefore: bigint | undefined;
  },
): Promise<void> {
  await tx.query(
    `update connections.connections set is_paused = $2, cap_before_pause_micros = $3 where connection_id = $1`,
    [pause.connectionId, pause.isPaused, pause.capBefore ?? null],
  );
}

/** The shares of the cap, in percent, that the owner wants mails about. */
export async function selectAlerts(db: Queryable, connectionId: ConnectionId): Promise<readonly number[]> {
  const { rows } = await db.query<{ shares: number[] }>(
    'select shares from connections.alerts where connection_id = $1',
    [connectionId],
  );
  return rows[0]?.shares ?? [];
}

/** Sets the shares. What was told this month stays told. */
export async function upsertAlerts(
  tx: Queryable,
  connectionId: ConnectionId,
  shares: readonly number[],
): Promise<void> {
  await tx.query(
    `insert into connections.alerts (connection_id, shares) values ($1, $2::smallint[])
     on conflict (connection_id) do update set shares = excluded.shares`,
    [connectionId, shares],
  );
}

export async function deleteAlerts(tx: Queryable, connectionId: ConnectionId): Promise<void> {
  await tx.query('delete from connections.alerts where connection_id = $1', [connectionId]);
}

interface AlertRow {
  readonly identity_id: IdentityId;
  readonly connection_id: ConnectionId;
  readonly app_id: AppId;
  readonly share: number;
  readonly spent: bigint;
  readonly cap: bigint;
  readonly currency: string;
}

/** Marks shares that were spent as told and returns them, see `alerts_due.sql`. */
export async function claimAlerts(tx: Queryable, most: number): Promise<readonly AlertRow[]> {
  const { rows } = await tx.query<AlertRow>(
    'select identity_id, connection_id, app_id, share, spent, cap, currency from connections.alerts_due($1)',
    [most],
  );
  return rows;
}
