import { selectAppDetails } from '#developers/apps/operator-queries.ts';
import { createConnections } from '#connections/connection.ts';
import { ownerOfWallet, releaseWallet } from '#connections/release.ts';
import type { Pool, Queryable } from '#db/pool/pool.ts';
import { emailOf } from '#people/email.ts';
import { changeEmail } from '#people/email-change.ts';
import { selectSessionsOf } from '#people/privacy-queries.ts';
import { selectIdentity, selectIdentityByEmail, selectPasskeysOf } from '#people/queries.ts';
import { assert } from '#kernel/faults/assert.ts';
import type { AppId, EndUserId, IdentityId } from '#kernel/values/ids.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { createWallets, type Wallet } from '#ledger/wallet/wallet.ts';
import { type Act, audited, Repeated } from '#operator/acts/act.ts';
import { hasWaitingAct } from '#operator/acts/queries.ts';

interface WalletName {
  readonly appId: AppId;
  readonly userId: EndUserId;
}

/** A person who owns wallets, as operators see them. */
export interface WalletOwner {
  readonly identityId: IdentityId;
  readonly email: string;
  /** The wallets, at most 100, the newest first. */
  readonly wallets: readonly WalletName[];
}

/** Who owns which wallet, and what to do when a person has lost their mailbox (WA-15). */
export type WalletOwners = ReturnType<typeof createWalletOwners>;

/** Puts mails into the outbox, in the transaction of the act. */
export interface WalletOwnerMails {
  readonly mailReleased: (tx: Queryable, email: string, wallet: { readonly appName: string }) => Promise<void>;
  readonly mailMoved: (tx: Queryable, emails: { readonly before: string; readonly after: string }) => Promise<void>;
}

interface WalletOwnersOptions extends WalletOwnerMails {
  readonly pool: Pool;
  readonly currency: string;
}

const SESSIONS_MAX = 1_000;
const TAKEN = 'Somebody signs in with this e-mail already. Release the wallets instead, so that they can connect them.';
const ACT_WAITS = 'An act on this wallet waits for a second person. Confirm or reject it first.';

export function createWalletOwners({ pool, currency, mailReleased, mailMoved }: WalletOwnersOptions) {
  async function withWallets(identityId: IdentityId, email: string): Promise<WalletOwner> {
    const owned = await createConnections(pool, currency).list(identityId);
    return { identityId, email, wallets: owned.map(({ appId, userId }) => ({ appId, userId })) };
  }

  return {
    /** The person with this e-mail. */
    find: async (text: string) => {
      const email = emailOf(text);
      const row = email && (await selectIdentityByEmail(pool, email));
      return row && withWallets(row.identity_id, row.email);
    },
    /** The owner of a wallet. */
    ofWallet: async ({ appId, userId }: WalletName) => {
      const identityId = await ownerOfWallet(pool, appId, userId);
      const row = identityId && (await selectIdentity(pool, identityId));
      return row && { identityId: row.identity_id, email: row.email };
    },
    /** How many sessions and passkeys a person has: a move ends them. At most 1,000 sessions are counted. */
    waysIn: async (identityId: IdentityId) => {
      const [sessions, passkeys] = await Promise.all([
        selectSessionsOf(pool, identityId, SESSIONS_MAX),
        selectPasskeysOf(pool, identityId),
      ]);
      return { sessions: sessions.length, passkeys: passkeys.length };
    },
    /**
     * Releases a wallet from its owner. It keeps its money and is disconnected. The next person who consents with a new link
     * becomes its owner. The owner so far is told by mail.
     */
    release: (act: Act, wallet: WalletName): Promise<Wallet | Refusal<'NOT_FOUND' | 'CONFLICT'>> => {
      const named = { ...act, action: 'wallet.release', subject: `${wallet.appId} ${wallet.userId}` };
      return audited<Wallet | Refusal<'NOT_FOUND' | 'CONFLICT'>>(pool, named, async (tx, note) => {
        const identityId = await releaseWallet(tx, wallet);
        if (identityId === undefined) return refuse('NOT_FOUND', 'Nobody owns a wallet of this user for this app.');
        if (await hasWaitingAct(tx, wallet)) return refuse('CONFLICT', ACT_WAITS);
        const owner = await selectIdentity(tx, identityId);
        const app = await selectAppDetails(tx, wallet.appId);
        assert(owner !== undefined && app !== undefined, 'a wallet has an owner and an app');
        await mailReleased(tx, owner.email, { appName: app.name });
        const after = await createWallets(tx).find(wallet.appId, wallet.userId);
        assert(after !== undefined, 'a connection has a wallet');
        note({ before: { identityId }, after: { identityId: null, balanceMicros: after.balance } });
        return after;
      });
    },
    /** Gives a person another e-mail and ends their sessions and passkeys. Both addresses are told by mail. */
    move: async (
      act: Act,
      identityId: IdentityId,
      text: string,
    ): Promise<WalletOwner | Refusal<'NOT_FOUND' | 'CONFLICT' | 'BAD_REQUEST'>> => {
      const email = emailOf(text);
      if (email === undefined) return refuse('BAD_REQUEST', '`email` must be an e-mail address.', { param: 'email' });
      const named = { ...act, action: 'identity.move', subject: identityId };
      const done = await audited<WalletOwner | Refusal<'NOT_FOUND' | 'CONFLICT'>>(pool, named, async (tx, note) => {
        const moved = await changeEmail(tx, identityId, email);
        if (moved === 'unknown') return refuse('NOT_FOUND', 'There is no such identity.');
        if (moved === 'taken') return refuse('CONFLICT', TAKEN, { param: 'email' });
        if (moved === 'same') return new Repeated({ identityId, email, wallets: [] });
        await mailMoved(tx, { before: moved.before, after: email });
        // The addresses are in a table of their own: a line of the trail outlives the person (CP-12).
        note({ after: { email: 'changed' } });
        return { identityId, email, wallets: [] };
      });
      return 'identityId' in done ? withWallets(identityId, email) : done;
    },
  };
}
