import type { AppProfile } from '#accounts/app-profile.ts';
import type { Connection } from '#connections/connection.ts';
import type { PeoplePages } from '#web/person/people-pages.ts';
import { alertOf } from '#web/frame/layout.ts';
import { personPage } from '#web/person/person-page.ts';
import { html } from '#kernel/html.ts';
import { NOTHING_HERE_TEXTS } from '#web/person/texts.ts';
import { toSignIn } from '#web/components/return-path.ts';
import { type PageAnswer, redirectTo, refusedBy, type Visit } from '#web/frame/visit.ts';
import type { Person } from '#identities/session.ts';
import { type ConnectionId, type IdentityId, parseId } from '#kernel/ids.ts';
import { type Micros, micros, ZERO_MICROS } from '#kernel/micros.ts';
import { refuse } from '#kernel/refusal.ts';

/** How a wallet stands towards its app. */
export type WalletState = 'active' | 'paused' | 'disconnected' | 'blocked';

/** A person before one of their own connections. */
export interface OwnVisit {
  readonly visit: Visit<Person>;
  readonly connection: Connection;
  readonly owner: { readonly identityId: IdentityId; readonly connectionId: ConnectionId };
  readonly app: Pick<AppProfile, 'name' | 'logo'>;
  /** Where the connection's page is. */
  readonly path: string;
}

/**
 * A page or form of `/wallet/:part`. It runs for the owner of the connection alone: what is another's is answered
 * exactly as what is not there.
 */
export function forOwner<Rest extends readonly unknown[]>(
  pages: PeoplePages,
  run: (own: OwnVisit, ...rest: Rest) => Promise<PageAnswer> | PageAnswer,
): (visit: Visit<Person>, ...rest: Rest) => Promise<PageAnswer> {
  return async (visit, ...rest) => {
    const path = `/wallet/${visit.part}`;
    if (visit.signedIn === undefined) return toSignIn(path);
    const { identityId } = visit.signedIn.identity;
    const connectionId = parseId('connection', visit.part);
    const connection =
      connectionId === undefined ? undefined : await pages.connections.ofIdentity({ identityId, connectionId });
    if (connection === undefined) return nothingHere(pages);
    const owner = { identityId, connectionId: connection.connectionId };
    return run({ visit, connection, owner, app: await faceOf(pages, connection), path }, ...rest);
  };
}

/** The app of a connection, as its users see it. */
export async function faceOf({ apps }: PeoplePages, { appId }: Connection): Promise<OwnVisit['app']> {
  return (await apps.find(appId)) ?? { name: appId, logo: undefined };
}

/** Of an address that only takes a form, when somebody goes there. */
export function toConnection({ part }: Visit<Person>): PageAnswer {
  return redirectTo(`/wallet/${part}`);
}

export function nothingHere(pages: PeoplePages): PageAnswer {
  const body = html`${alertOf(NOTHING_HERE_TEXTS.notFound)}
<p><a href="/wallet">${NOTHING_HERE_TEXTS.allApps}</a></p>`;
  const page = personPage(pages, { title: NOTHING_HERE_TEXTS.title, body, isError: true });
  return refusedBy(refuse('NOT_FOUND', NOTHING_HERE_TEXTS.notFound), page);
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
