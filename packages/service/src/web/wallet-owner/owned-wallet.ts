import type { AppFace } from '#accounts/app-face.ts';
import type { Connection } from '#connections/connection.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/wallet-owner-services.ts';
import { alertOf } from '#web/frame/page-shell.ts';
import { walletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';
import { html } from '#kernel/html.ts';
import { WALLET_TEXTS, type WalletState } from '#web/wallet/texts.ts';
import { toSignIn } from '#web/wallet-owner/return-path.ts';
import { type PageResponse, redirectTo, refusedBy, type PageRequest } from '#web/frame/page-handlers.ts';
import type { Person } from '#identities/session.ts';
import type { ConnectionId, IdentityId } from '#kernel/ids.ts';
import { type Micros, micros, ZERO_MICROS } from '#kernel/micros.ts';
import { refuse } from '#kernel/refusal.ts';

/** A person before one of his own connections. */
export interface OwnedWallet {
  readonly request: PageRequest<Person>;
  readonly connection: Connection;
  readonly owner: { readonly identityId: IdentityId; readonly connectionId: ConnectionId };
  readonly app: Pick<AppFace, 'name' | 'logo'>;
  /** Where the connection's page is. */
  readonly path: string;
}

/**
 * A page or form of `/wallet/:part`. It runs for the owner of the connection alone: what is another's is answered
 * exactly as what is not there.
 */
export function forWalletOwner<Rest extends readonly unknown[]>(
  services: WalletOwnerServices,
  run: (own: OwnedWallet, ...rest: Rest) => Promise<PageResponse> | PageResponse,
): (request: PageRequest<Person>, ...rest: Rest) => Promise<PageResponse> {
  return async (request, ...rest) => {
    const path = `/wallet/${request.part}`;
    if (request.signedIn === undefined) return toSignIn(path);
    const { identityId } = request.signedIn.identity;
    const connection = await services.connections.ofIdentity({
      identityId,
      connectionId: request.part as ConnectionId,
    });
    if (connection === undefined) return nothingHere(services);
    const owner = { identityId, connectionId: connection.connectionId };
    return run({ request, connection, owner, app: await faceOf(services, connection), path }, ...rest);
  };
}

/** The app of a connection, as its users see it. */
export async function faceOf({ apps }: WalletOwnerServices, { appId }: Connection): Promise<OwnedWallet['app']> {
  return (await apps.find(appId)) ?? { name: appId, logo: undefined };
}

/** Of an address that only takes a form, when somebody goes there. */
export function toConnection({ part }: PageRequest<Person>): PageResponse {
  return redirectTo(`/wallet/${part}`);
}

export function nothingHere(services: WalletOwnerServices): PageResponse {
  const body = html`${alertOf(WALLET_TEXTS.notFound)}
<p><a href="/wallet">${WALLET_TEXTS.allApps}</a></p>`;
  const page = walletOwnerPage(services, { title: WALLET_TEXTS.notFoundTitle, body, isError: true });
  return refusedBy(refuse('NOT_FOUND', WALLET_TEXTS.notFound), page);
}

/** What the app could spend now: what no call holds, as far as the monthly cap has room for it. */
export function spendableOf(connection: Connection): Micros {
  const { wallet, cap } = connection;
  if (stateOf(connection) !== 'active') return ZERO_MICROS;
  if (cap === undefined) return wallet.available;
  const room = cap - wallet.spentThisMonth - wallet.held; // Holds take room of the cap, too.
  if (room <= 0n) return ZERO_MICROS;
  return room < wallet.available ? micros(room) : wallet.available;
}

/** The state that decides whether the app can spend: a block first, for nothing else lifts it. */
export function stateOf({ wallet, isPaused }: Connection): WalletState {
  if (wallet.isSuspended) return 'blocked';
  if (!wallet.isConnected) return 'disconnected';
  return isPaused ? 'paused' : 'active';
}
