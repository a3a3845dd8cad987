import type { SsoPurpose } from '#developers/sso/ticket.ts';
import { html } from '#kernel/text/html.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import {
  type AccountMethods,
  type AccountRequest,
  type AccountServices,
  showAccountPage,
} from '#web/credentials/account-services.ts';
import { goOn, placeOf } from '#web/account/after-sign-in.ts';
import { provePath } from '#web/factors/prove-page.ts';
import { SSO, SSO_CALLBACK, SSO_LINK, thenOf } from '#web/credentials/sso-paths.ts';
import { SSO_TEXTS as TEXTS } from '#web/credentials/texts.ts';
import { errorSummary } from '#web/components/notices.ts';
import { button, buttonLink, card, linkLine } from '#web/components/parts.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';
import { showOwnerPage } from '#web/frame/owner-page.ts';

/** The pages of signing in through the OpenID Connect provider. None when the settings name no provider. */
export function ssoPages({ accounts: { sso } }: AccountServices): Readonly<Record<string, AccountMethods>> {
  return sso === undefined ? {} : { [SSO]: ssoPage, [SSO_CALLBACK]: callbackPage, [SSO_LINK]: linkPage };
}

/** Leads to the provider at `/sign-in/sso`. With `for=proof`, it is to show again who one is. */
const ssoPage: AccountMethods = {
  GET: async (request) => {
    if (request.query.get('for') === 'proof') {
      const begun = await begin(request, 'prove', thenOf(request.query.get('then')));
      return begun instanceof Refusal ? failed(request, begun) : redirectTo(begun.location, begun.cookies);
    }
    if (request.signedIn !== undefined) return redirectTo('/console');
    const begun = await begin(request, 'sign-in', '/ops');
    return begun instanceof Refusal ? failed(request, begun) : redirectTo(begun.location, begun.cookies);
  },
};

/** Takes people back from the provider at `/sign-in/sso/callback`. */
const callbackPage: AccountMethods = {
  GET: async (request) => {
    const { services } = request;
    const finished = await services.accounts.sso?.finish({
      cookie: request.cookie('sso'),
      query: request.query,
      signedIn: request.signedIn,
      place: placeOf(request),
    });
    if (finished === undefined) return redirectTo('/sign-in');
    if (finished instanceof Refusal) return failed(request, finished);
    const forget = [services.cookies.write('sso', undefined)];
    const { signIn, next } = finished;
    return signIn === undefined ? redirectTo(next, forget) : goOn(request, signIn, next, forget);
  },
};

/** Gives an account that has a password to a person at the provider, at `/account/sso`. */
const linkPage: AccountMethods = {
  GET: (request) => {
    const {
      services: { accounts },
      signedIn,
    } = request;
    if (signedIn === undefined || accounts.sso === undefined) return redirectTo('/sign-in');
    if (signedIn.account.isSso) return redirectTo('/account');
    if (!signedIn.isProved) return redirectTo(provePath(SSO_LINK));
    return showLink(request, accounts.sso.name);
  },
  POST: async (request) => {
    const { accounts } = request.services;
    if (request.signedIn === undefined || accounts.sso === undefined) return redirectTo('/sign-in');
    const begun = await begin(request, 'link', '/account?done=linked');
    if (begun instanceof Refusal) return showLink(request, accounts.sso.name, begun);
    // A redirect would not do: the policy lets forms end at our own addresses only.
    const { location, cookies } = begun;
    const body = card(buttonLink(location, TEXTS.to(accounts.sso.name)));
    return { ...showAccountPage(request, { title: TEXTS.leaving, body, goesTo: location }), cookies };
  },
};

/** Begins at the provider. The cookie binds the answer to this browser. */
async function begin({ services, signedIn }: AccountRequest, purpose: SsoPurpose, next: string) {
  const { accounts, cookies } = services;
  const begun = await accounts.sso?.begin({ purpose, signedIn, next });
  if (begun === undefined) return { location: '/sign-in', cookies: [] };
  return begun instanceof Refusal ? begun : { location: begun.location, cookies: [cookies.write('sso', begun.cookie)] };
}

function showLink(request: AccountRequest, name: string, refusal?: Refusal): PageResponse {
  const body = html`${errorSummary(refusal?.message)}
${card(html`<p>${TEXTS.linkWhat(name)}</p>`, request.form(SSO_LINK, button(TEXTS.link(name))))}
${linkLine('/account', TEXTS.back)}`;
  return showOwnerPage(request, { title: TEXTS.linkTitle, body, refusal, isNarrow: true });
}

/** The provider's answer opened nothing. The cookie stays: a link of a stranger must not end the sign-in that is under way. */
function failed(request: AccountRequest, refusal: Refusal): PageResponse {
  const body = html`${errorSummary(refusal.message)}
${linkLine('/sign-in', TEXTS.again)}`;
  return showAccountPage(request, { title: TEXTS.failed, body, refusal });
}
