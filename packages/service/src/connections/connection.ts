import { insertAuditEntry } from '#audit/queries.ts';
import {
  type ConnectionRow,
  hasConnection,
  lockConnection,
  selectConnection,
  selectConnectionOf,
  selectConnectionsOf,
  updatePause,
  wasReleasedAfter,
  upsertConnection,
} from '#connections/queries.ts';
import type { Email } from '#people/email.ts';
import { holdIdentity } from '#people/privacy-queries.ts';
import { selectIdentityByEmail } from '#people/queries.ts';
import { inTransaction, type Pool, type Queryable } from '#db/pool/pool.ts';
import { type AppId, type ConnectionId, type EndUserId, type IdentityId, newConnectionId } from '#kernel/values/ids.ts';
import { type Micros, microsFromRow, ZERO_MICROS } from '#kernel/values/micros.ts';
import { createWallets, type Wallet } from '#ledger/wallet/wallet.ts';

/** An identity's consent for one (app, end user), with the wallet that it pays from. */
export interface Connection {
  readonly connectionId: ConnectionId;
  readonly appId: AppId;
  readonly userId: EndUserId;
  readonly identityId: IdentityId;
  /** The app's own name for the account, shown to the person. */
  readonly userLabel: string | undefined;
  readonly consentedAtMs: number;
  /** It is true while the connection is paused. The wallet's cap is then 0. */
  readonly isPaused: boolean;
  /** The monthly cap; while paused, the cap that comes back. Undefined means none. */
  readonly cap: Micros | undefined;
  readonly wallet: Wallet;
}

interface Owner {
  readonly identityId: IdentityId;
  readonly connectionId: ConnectionId;
}

interface Consent {
  readonly identityId: IdentityId;
  readonly appId: AppId;
  readonly userId: EndUserId;
  readonly userLabel: string | undefined;
  /** The monthly cap that the person chose; undefined for none. */
  readonly cap: Micros | undefined;
  /** When the link was made that led here, see `beganAtMs`. */
  readonly linkBeganAtMs: number;
}

/** A link for an (app, user), and when it was made. */
interface LinkOfUser {
  readonly appId: AppId;
  readonly userId: EndUserId;
  readonly beganAtMs: number;
}

/**
 * What somebody who opens a link sees. If another identity owns the wallet, connected or not, a link to connect shows what it shows of
 * a user who never connected: the app's developer must not find out by a link who has left (WA-02).
 */
interface Seen {
  /** The connection of the person who opens the link. */
  readonly connection: Connection | undefined;
  /** The wallet is connected and belongs to another identity. Only who may pay into it as a gift is told. */
  readonly isForeign: boolean;
  /** The wallet was released from its owner since the link was made: a consent with it would be refused (WA-15). */
  readonly isOutdated: boolean;
  /** The monthly cap of a wallet that an operator opened and no identity has claimed yet. */
  readonly capToClaim: Micros | undefined;
  /** Whether they have connected another account of the app before. */
  readonly isOneMore: boolean;
}

/**
 * Records which identity lets which app spend from which wallet. Another identity's connection looks the same as one that
 * does not exist.
 */
export interface Connections {
  /**
   * Connects an identity. Opens the wallet when there is none; from now on the wallet belongs to this identity, until an
   * operator releases it (BI-04). Repeating it, also after a disconnection, connects the same wallet again (ON-05). `foreign` means that the
   * wallet belongs to another identity and nothing changed. `outdated`: an operator has released the wallet since the link was
   * made, so the link gives nobody the wallet (WA-15). Also if the identity has been deleted meanwhile (CP-12).
   */
  readonly consent: (consent: Consent) => Promise<Connection | 'foreign' | 'outdated'>;
  /** Finds the connection of an (app, user), no matter which identity owns it. */
  readonly find: (appId: AppId, userId: EndUserId) => Promise<Connection | undefined>;
  /** What an identity sees of the (app, user) of a link that it has opened. */
  readonly seenBy: (identityId: IdentityId, link: LinkOfUser) => Promise<Seen>;
  readonly ofIdentity: (owner: Owner) => Promise<Connection | undefined>;
  /** The identity's connections, newest first, at most 100. */
  readonly list: (identityId: IdentityId) => Promise<readonly Connection[]>;
  /** Lists the connections of the person with this e-mail, who may be unknown. */
  readonly listOf: (email: Email) => Promise<readonly Connection[]>;
  /** Sets the monthly cap and ends a pause. Applies to the next call. False when the identity has no such connection. */
  readonly setCap: (owner: Owner, cap: Micros | undefined) => Promise<boolean>;
  /** Pauses or resumes spending without disconnecting. While paused, a call is refused as if the cap were reached. */
  readonly setPaused: (owner: Owner, isPaused: boolean) => Promise<boolean>;
  /** Stops spending at once, or allows it again (ON-05). A suspension by an operator is not lifted by this (WA-11). */
  readonly setConnected: (owner: Owner, isConnected: boolean) => Promise<boolean>;
}

const LISTED_MAX = 100;
/** How far the clocks of a gateway and of the database may be apart. A link that is younger than a release by less is old. */
const CLOCKS_APART_MS = 5_000;

/** Rolls a consent back: its link is older than the wallet's release, or its identity was deleted. */
class Outdated extends Error {}

export function createConnections(pool: Pool, currency: string): Connections {
  /** Runs a change under the connection's lock. False when the identity has no such connection. */
  function change(
    owner: Owner,
    run: (tx: Queryable, row: ConnectionRow, wallet: Wallet) => Promise<void>,
  ): Promise<boolean> {
    return inTransaction(pool, async (tx) => {
      const row = await lockConnection(tx, owner);
      const wallet = row === undefined ? undefined : await createWallets(tx).find(row.app_id, row.user_id);
      if (row === undefined || wallet === undefined) return false;
      await run(tx, row, wallet);
      return true;
    });
  }

  return {
    consent: async (consent) => {
      try {
        return await inTransaction(pool, (tx) => connect(tx, consent, currency));
      } catch (fault) {
        if (fault instanceof Outdated) return 'outdated';
        throw fault;
      }
    },
    find: async (appId, userId) => {
      const row = await selectConnection(pool, appId, userId);
      return row === undefined ? undefined : withWallet(pool, row);
    },
    seenBy: (identityId, link) => seenBy(pool, identityId, link),
    ofIdentity: async (owner) => {
      const row = await selectConnectionOf(pool, owner);
      return row === undefined ? undefined : withWallet(pool, row);
    },
    list: (identityId) => listed(pool, identityId),
    listOf: async (email) => listed(pool, (await selectIdentityByEmail(pool, email))?.identity_id),
    setCap: (owner, cap) =>
      change(owner, async (tx, { app_id: appId, user_id: userId, connection_id: connectionId }) => {
        await updatePause(tx, { connectionId, isPaused: false, capBefore: undefined });
        await createWallets(tx).setCap({ appId, userId, cap });
      }),
    setPaused: (owner, isPaused) =>
      change(owner, async (tx, row, wallet) => {
        if (row.is_paused === isPaused) return;
        const { connection_id: connectionId, app_id: appId, user_id: userId } = row;
        // The cap moves aside for the pause and comes back with its end. The row lock keeps two pauses from both seeing the
        // cap of 0 as the one to remember.
        const before = row.cap_before_pause_micros;
        await updatePause(tx, { connectionId, isPaused, capBefore: isPaused ? wallet.cap : undefined });
        const back = before === null ? undefined : microsFromRow(before);
        await createWallets(tx).setCap({ appId, userId, cap: isPaused ? ZERO_MICROS : back });
      }),
    setConnected: (owner, isConnected) =>
      change(owner, async (tx, { app_id: appId, user_id: userId }) => {
        await createWallets(tx).setConnected({ appId, userId, isConnected });
      }),
  };
}

async function seenBy(pool: Pool, identityId: IdentityId, { appId, userId, beganAtMs }: LinkOfUser): Promise<Seen> {
  // Always the same four statements, so that the time of a page tells nothing either.
  const row = await selectConnection(pool, appId, userId);
  const wallet = await createWallets(pool).find(appId, userId);
  const knowsApp = await hasConnection(pool, identityId, appId);
  const wasReleased = await wasReleasedAfter(pool, { appId, userId }, beganAtMs, CLOCKS_APART_MS);
  if (row?.identity_id === identityId && wallet !== undefined) {
    const none = { isForeign: false, isOutdated: false, capToClaim: undefined, isOneMore: false };
    return { connection: connectionOf(row, wallet), ...none };
  }
  const isForeign = row !== undefined && wallet?.isConnected === true;
  const capToClaim = row === undefined ? wallet?.cap : undefined;
  const isOutdated = row === undefined && wasReleased;
  return { connection: undefined, isForeign, isOutdated, capToClaim, isOneMore: knowsApp };
}

/**
 * Runs in one transaction: connection, wallet, cap and pause change together or not at all.
 * The connection's row is locked first, so two consents to the same wallet cannot both win.
 */
async function connect(tx: Queryable, consent: Consent, currency: string): Promise<Connection | 'foreign'> {
  const { appId, userId, identityId, cap } = consent;
  const connectionId = newConnectionId();
  // A deletion of this person comes either before all of this, or after it and then finds the wallet.
  if (!(await holdIdentity(tx, identityId))) throw new Outdated();
  const row = await upsertConnection(tx, { ...consent, connectionId });
  if (row?.identity_id !== identityId) return 'foreign';
  const isNew = row.connection_id === connectionId;
  // Read after the connection's row is locked, so that a release at this moment is seen.
  if (isNew && (await wasReleasedAfter(tx, consent, consent.linkBeganAtMs, CLOCKS_APART_MS))) throw new Outdated();
  const wallets = createWallets(tx);
  const isOpened = await wallets.open({ appId, userId, currency, cap });
  if (!isOpened && isNew) {
    // The wallet was there before: an operator opened or released it, and this identity has just claimed it.
    const subject = `${appId} ${userId}`;
    await insertAuditEntry(tx, { actor: identityId, action: 'wallet.claim', subject, reason: undefined });
  }
  await wallets.setCap({ appId, userId, cap });
  await updatePause(tx, { connectionId: row.connection_id, isPaused: false, capBefore: undefined });
  await wallets.setConnected({ appId, userId, isConnected: true });
  return withWallet(tx, { ...row, is_paused: false, cap_before_pause_micros: null });
}

async function listed(db: Queryable, identityId: IdentityId | undefined): Promise<readonly Connection[]> {
  const rows = identityId === undefined ? [] : await selectConnectionsOf(db, identityId, LISTED_MAX);
  return Promise.all(rows.map((row) => withWallet(db, row)));
}

/** Adds the wallet to a connection. */
async function withWallet(db: Queryable, row: ConnectionRow): Promise<Connection> {
  const wallet = await createWallets(db).find(row.app_id, row.user_id);
  if (wallet === undefined) throw new Error('A connection exists without its wallet.');
  return connectionOf(row, wallet);
}

/** While paused, the wallet's own cap is 0, so the remembered cap is shown. */
function connectionOf(row: ConnectionRow, wallet: Wallet): Connection {
  const before = row.cap_before_pause_micros === null ? undefined : microsFromRow(row.cap_before_pause_micros);
  return {
    connectionId: row.connection_id,
    appId: row.app_id,
    userId: row.user_id,
    identityId: row.identity_id,
    userLabel: row.user_label ?? undefined,
    consentedAtMs: row.consented_at.getTime(),
    isPaused: row.is_paused,
    cap: row.is_paused ? before : wallet.cap,
    wallet,
  };
}
