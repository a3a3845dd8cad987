import { type Html, html } from '#kernel/text/html.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { AccountServices } from '#web/credentials/account-services.ts';
import { VERIFY_TEXTS as TEXTS } from '#web/credentials/texts.ts';
import { button, buttonLink } from '#web/components/button.ts';
import { linkLine } from '#web/components/navigation.ts';
import { errorSummary } from '#web/components/notices.ts';
import { card } from '#web/components/section.ts';
import type { PageMethods, PageRequest, PageResponse } from '#web/frame/page.ts';
import { showOwnerPage } from '#web/frame/owner-page.ts';
import { redirectTo } from '#web/frame/responses.ts';

const VERIFY = '/account/verify';
/** The form of a token. Anything else in the address is dropped. */
const TOKEN = /^[0-9A-Za-z]{1,256}$/;

/**
 * Makes the page `/account/verify`, where the link in the mail leads. The token moves into a cookie, so that it stands
 * in no history. Opening the link verifies nothing, because mail scanners open links too. The button works for the
 * account that the mail is for, and for nobody else who is signed in.
 */
export function verifyPage(services: AccountServices): PageMethods {
  const { accounts, cookies, addressOf } = services;
  return {
    GET: (request) => {
      const token = request.query.get('token');
      if (token !== null) {
        return redirectTo(VERIFY, [cookies.write('verify', TOKEN.test(token) ? token : undefined)]);
      }
      const { signedIn } = request;
      if (signedIn === undefined) {
        return show(services, request, card(html`<p>${TEXTS.signInFirst}</p>`, buttonLink('/sign-in', TEXTS.signIn)));
      }
      if (signedIn.account.isEmailVerified) return redirectTo('/account?done=verified');
      if (request.cookie('verify') === undefined) {
        return showRefused(services, request, refuse('BAD_REQUEST', TEXTS.noLink));
      }
      const body = card(
        html`<p>${TEXTS.confirm(signedIn.account.email)}</p>`,
        request.form(VERIFY, button(TEXTS.verify)),
      );
      return show(services, request, body);
    },
    POST: async (request) => {
      const { signedIn } = request;
      if (signedIn === undefined) return redirectTo('/sign-in');
      const from = addressOf(request.exchange.request);
      const refused = await accounts.verifyEmail(signedIn.account, request.cookie('verify') ?? '', from);
      const kept = [cookies.write('verify', undefined)];
      if (refused !== undefined) return { ...showRefused(services, request, refused), cookies: kept };
      return redirectTo('/console?done=verified', kept);
    },
  };
}

/** Mails the link again at `/account/verify/send`. */
export function sendVerificationForm(services: AccountServices): PageMethods {
  return {
    GET: () => redirectTo('/account'),
    POST: async (request) => {
      const { signedIn } = request;
      if (signedIn === undefined) return redirectTo('/sign-in');
      const refused = await services.accounts.sendVerification(signedIn.account);
      if (refused === undefined) return redirectTo('/account?done=verification');
      if (refused.code === 'CONFLICT') return redirectTo('/account?done=verified');
      return showRefused(services, request, refused);
    },
  };
}

function show(services: AccountServices, request: PageRequest, body: Html, refusal?: Refusal): PageResponse {
  return showOwnerPage(services, request, { title: TEXTS.title, body, refusal, isNarrow: true });
}

/** The link or the mail that was asked for is not to be had. The account has the button that mails another one. */
function showRefused(services: AccountServices, request: PageRequest, refusal: Refusal): PageResponse {
  const body = html`${errorSummary(refusal.message)}\n${card(linkLine('/account', TEXTS.back))}`;
  return show(services, request, body, refusal);
}
