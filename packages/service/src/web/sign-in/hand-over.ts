import type { Person } from '#people/session.ts';
import { html } from '#kernel/text/html.ts';
import { parseId } from '#kernel/values/ids.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import { errorSummary } from '#web/components/notices.ts';
import { card, linkLine } from '#web/components/parts.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';
import { signedInCookies } from '#web/sign-in/passkeys.ts';
import { HAND_OVER_TEXTS as TEXTS } from '#web/sign-in/texts.ts';
import { ARRIVE, FROM_CELL, fromCell, HAND_OVER } from '#web/wallet-owner/other-cells.ts';
import { DATA, returnPathOf, SIGN_IN, toSignIn, withReturnPath } from '#web/wallet-owner/return-path.ts';
import type { WalletOwnerMethods, WalletOwnerServices } from '#web/wallet-owner/services.ts';
import { showWalletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';

type Cells = NonNullable<WalletOwnerServices['otherCells']>;

/** How a person who is signed in to one cell gets to a page of another: begun there, vouched for here, and ended there. */
export function handOverPages(cells: Cells): Readonly<Record<string, WalletOwnerMethods>> {
  return {
    [FROM_CELL]: fromCellPage(cells),
    [HAND_OVER]: handOverPage(cells),
    [ARRIVE]: arrivePage(cells),
  };
}

/**
 * Makes the page in the cell that a person goes to. It leads to the cell `from`, in which they say that they are signed
 * in, unless they are signed in here.
 */
function fromCellPage(cells: Cells): WalletOwnerMethods {
  return {
    GET: async (request) => {
      const { services, query, signedIn } = request;
      const next = returnPathOf(query.get('next'));
      if (signedIn !== undefined && (await isFor(services, signedIn, next))) return redirectTo(next);
      const there = await cells.pagesOf(query.get('from') ?? '');
      if (there === undefined) return toSignIn(next);
      const { secret, state } = cells.handOvers.begin(request.cookie('arrival'));
      const asked = new URLSearchParams({ to: cells.own, state, next });
      return redirectTo(`${there.publicUrl}${HAND_OVER}?${asked.toString()}`, [
        services.cookies.write('arrival', secret),
      ]);
    },
  };
}

/** A person may be signed in here with another e-mail than the one whose wallet, or data, they have just chosen. */
async function isFor({ connections }: WalletOwnerServices, { identity }: Person, next: string): Promise<boolean> {
  // Only the cell that they come from knows whose: nobody should delete somebody else's data by mistake.
  if (next === DATA) return false;
  const connectionId = parseId('connection', next.split('/')[2]);
  if (connectionId === undefined || !next.startsWith('/wallet/')) return true;
  return (await connections.ofIdentity({ identityId: identity.identityId, connectionId })) !== undefined;
}

/**
 * Makes the page in the cell in which a person is signed in. It leads to the cell `to`, which begins the hand-over, or
 * vouches for the person if it has (`state`). It leads to no other address.
 */
function handOverPage(cells: Cells): WalletOwnerMethods {
  return {
    GET: async ({ query, signedIn }) => {
      const next = returnPathOf(query.get('next'));
      const to = await cells.pagesOf(query.get('to') ?? '');
      if (to === undefined) return redirectTo('/wallet');
      const state = query.get('state');
      if (state === null) return redirectTo(`${to.publicUrl}${fromCell(cells.own, next)}`);
      if (signedIn === undefined) return redirectTo(`${to.publicUrl}${withReturnPath(SIGN_IN, next)}`);
      const token = cells.handOvers.offer(signedIn, to.cell, { state, next });
      return token === undefined ? redirectTo('/wallet') : redirectTo(`${to.publicUrl}${ARRIVE}?token=${token}`);
    },
  };
}

/**
 * Makes the page back in the cell that a person goes to. It signs in the browser that began the hand-over, and no
 * other.
 */
function arrivePage({ handOvers }: Cells): WalletOwnerMethods {
  return {
    GET: async (request) => {
      const { services } = request;
      const spent = await handOvers.spend(request.query.get('token') ?? '');
      if (spent === undefined) return refused(services);
      const next = returnPathOf(spent.next);
      if (request.signedIn?.identity.email === spent.email) return redirectTo(next); // Two pages opened at once, or a reload.
      const opened = await handOvers.take(spent, {
        secret: request.cookie('arrival'),
        address: services.addressOf(request.exchange.request),
      });
      if (opened === undefined) return refused(services);
      return redirectTo(next, [...signedInCookies(services, opened), services.cookies.write('arrival', undefined)]);
    },
  };
}

/**
 * Answers a token that is forged, expired, used, of another browser, or signed out meanwhile. The answer does not say
 * which, and shows nothing of the token.
 */
function refused(services: WalletOwnerServices): PageResponse {
  const body = card(
    errorSummary(TEXTS.refused),
    html`<p>${TEXTS.refusedAdvice}</p>`,
    linkLine('/wallet', TEXTS.signIn),
  );
  return showWalletOwnerPage(services, {
    title: TEXTS.refusedTitle,
    body,
    refusal: refuse('FORBIDDEN', TEXTS.refused),
  });
}
