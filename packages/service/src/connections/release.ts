import { releaseConnection, selectConnection } from '#connections/queries.ts';
import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, EndUserId, IdentityId } from '#kernel/values/ids.ts';
import { microsFromRow } from '#kernel/values/micros.ts';
import { createWallets } from '#ledger/wallet/wallet.ts';

/** The identity that owns the wallet of an (app, user). Undefined when nobody has consented, or it was released. */
export async function ownerOfWallet(db: Queryable, appId: AppId, userId: EndUserId): Promise<IdentityId | undefined> {
  return (await selectConnection(db, appId, userId))?.identity_id;
}

/**
 * Releases a wallet from its owner and returns the owner (WA-15). The wallet keeps its money and is disconnected, so nothing is
 * spent until somebody consents with a link that was made afterwards. A pause ends with the ownership: its cap comes back,
 * for the next owner to see. Undefined when nobody owns the wallet.
 */
export async function releaseWallet(
  tx: Queryable,
  wallet: { readonly appId: AppId; readonly userId: EndUserId },
): Promise<IdentityId | undefined> {
  const released = await releaseConnection(tx, wallet.appId, wallet.userId);
  if (released === undefined) return undefined;
  const wallets = createWallets(tx);
  const before = released.cap_before_pause_micros;
  if (released.is_paused) await wallets.setCap({ ...wallet, cap: before === null ? undefined : microsFromRow(before) });
  await wallets.setConnected({ ...wallet, isConnected: false });
  await wallets.forgetSessions(wallet.appId, wallet.userId);
  return released.identity_id;
}
