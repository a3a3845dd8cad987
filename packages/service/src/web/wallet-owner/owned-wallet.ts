import type { AppProfile } from '#developers/apps/profile.ts';
import type { Connection } from '#connections/connection.ts';
import type { ListedConnection } from '#http/cells/wallets/people.ts';
import { html } from '#kernel/text/html.ts';
import { type ConnectionId, type IdentityId, parseId } from '#kernel/values/ids.ts';
import { type Micros, micros, ZERO_MICROS } from '#kernel/values/micros.ts';
import type { NamedWallet } from '#ledger/history/movements.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import { linkLine } from '#web/components/parts.ts';
import { errorSummary } from '#web/components/notices.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';
import { toCell } from '#web/wallet-owner/other-cells.ts';
import { toSignIn } from '#web/wallet-owner/return-path.ts';
import { OWNED_WALLET_TEXTS as TEXTS } from '#web/wallet-owner/texts.ts';
import type { WalletOwnerMethods, WalletOwnerRequest, WalletOwnerServices } from '#web/wallet-owner/services.ts';
import { showWalletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';

/** A wallet whose owner asks for one of its pages. */
export interface OwnedWallet {
  readonly services: WalletOwnerServices;
  readonly request: WalletOwnerRequest;
  readonly connection: Connection;
  /** The wallet, named as its movements are looked up. */
  readonly wallet: NamedWallet;
  /** What every change of the connection is bound to. */
  readonly owner: { readonly identityId: IdentityId; readonly connectionId: ConnectionId };
  readonly app: Pick<AppProfile, 'name' | 'logo' | 'returnUri'>;
  /** The wallet's own page. */
  readonly path: string;
}

/** The states of a wallet as its owner sees them. Only `active` lets the app spend. */
export type WalletState = 'active' | 'paused' | 'disconnected' | 'blocked';

type Form = Parameters<NonNullable<WalletOwnerMethods['POST']>>[1];

interface OwnedWalletMethods {
  /** Left out for a form that shows nothing: somebody may reload its address or type it, and gets the wallet's page. */
  readonly GET?: (own: OwnedWallet) => Promise<PageResponse> | PageResponse;
  readonly POST?: (own: OwnedWallet, form: Form) => Promise<PageResponse> | PageResponse;
}

/**
 * Makes `/wallet/:part` and the pages and forms below it, for the wallet's owner only. A wallet of somebody else gets the same
 * answer as one that does not exist, so that nobody can find out which wallets there are.
 */
export function forWalletOwner({ GET, POST }: OwnedWalletMethods): WalletOwnerMethods {
  return {
    GET: GET === undefined ? ({ part }) => redirectTo(`/wallet/${part}`) : (request) => open(request, GET),
    ...(POST === undefined ? {} : { POST: (request, form) => open(request, (own) => POST(own, form)) }),
  };
}

async function open(
  request: WalletOwnerRequest,
  run: (own: OwnedWallet) => Promise<PageResponse> | PageResponse,
): Promise<PageResponse> {
  const { services } = request;
  const path = `/wallet/${request.part}`;
  if (request.signedIn === undefined) return toSignIn(path);
  const { identityId } = request.signedIn.identity;
  const connectionId = parseId('connection', request.part);
  const connection =
    connectionId === undefined ? undefined : await services.connections.ofIdentity({ identityId, connectionId });
  if (connection === undefined) return (await elsewhere(request, connectionId)) ?? nothingHere(services);
  const owner = { identityId, connectionId: connection.connectionId };
  const { appId, userId } = connection;
  const wallet = { appId, userId, walletId: connection.wallet.walletId };
  return run({ services, request, connection, wallet, owner, app: await faceOf(services, connection), path });
}

/**
 * The way to a wallet of this person in another cell: it may have moved there since its address was mailed. A form stays here: its act
 * was not done.
 */
async function elsewhere(
  { services: { otherCells }, exchange, signedIn, part }: WalletOwnerRequest,
  connectionId: ConnectionId | undefined,
): Promise<PageResponse | undefined> {
  if (otherCells === undefined || signedIn === undefined || exchange.request.method === 'POST') return undefined;
  if (connectionId === undefined) return undefined;
  const { wallets } = await otherCells.walletsOf(signedIn.identity.email);
  const there = wallets.find(({ connection }) => connection.connectionId === connectionId);
  return there && redirectTo(toCell(there.cell, `/wallet/${part}`));
}

/** The name and logo of a connection's app, and the way back to it. */
export async function faceOf(
  { apps }: WalletOwnerServices,
  { appId }: Pick<Connection, 'appId'>,
): Promise<OwnedWallet['app']> {
  return (await apps.find(appId)) ?? { name: appId, logo: undefined, returnUri: undefined };
}

export function nothingHere(services: WalletOwnerServices): PageResponse {
  const body = html`${errorSummary(TEXTS.notFound)}
${linkLine('/wallet', TEXTS.allApps)}`;
  const refusal = refuse('NOT_FOUND', TEXTS.notFound);
  return showWalletOwnerPage(services, { title: TEXTS.notFoundTitle, body, refusal });
}

/** The most that the app could spend now: what no call holds, as far as the monthly cap has room for it. */
export function spendableOf(connection: ListedConnection): Micros {
  const { wallet, cap } = connection;
  if (stateOf(connection) !== 'active') return ZERO_MICROS;
  if (cap === undefined) return wallet.available;
  const room = cap - wallet.spentThisMonth - wallet.held; // Running calls may still cost what they hold, so holds take room too.
  if (room <= 0n) return ZERO_MICROS;
  return room < wallet.available ? micros(room) : wallet.available;
}

/** The state that decides whether the app can spend. A block comes first: connecting or resuming does not lift it. */
export function stateOf({ wallet, isPaused }: ListedConnection): WalletState {
  if (wallet.isSuspended) return 'blocked';
  if (!wallet.isConnected) return 'disconnected';
  return isPaused ? 'paused' : 'active';
}
