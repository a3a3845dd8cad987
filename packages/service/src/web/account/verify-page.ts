import { type Html, html } from '#kernel/text/html.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { AccountMethods, AccountRequest } from '#web/credentials/account-services.ts';
import { VERIFY_TEXTS as TEXTS } from '#web/credentials/texts.ts';
import { errorSummary } from '#web/components/notices.ts';
import { button, buttonLink, card, linkLine } from '#web/components/parts.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';
import { showOwnerPage } from '#web/frame/owner-page.ts';
import { keptToken } from '#web/frame/mailed-token.ts';

const VERIFY = '/account/verify';

/**
 * Makes the page `/account/verify`, where the link in the mail leads. The token moves into a cookie, so that it stands
 * in no history. Opening the link verifies nothing, because mail scanners open links too. The button works for the
 * account that the mail is for, and for nobody else who is signed in.
 */
export const verifyPage: AccountMethods = {
  GET: (request) => {
    const moved = keptToken(request, 'verify', VERIFY);
    if (moved !== undefined) return moved;
    const { signedIn } = request;
    if (signedIn === undefined) {
      return show(request, card(html`<p>${TEXTS.signInFirst}</p>`, buttonLink('/sign-in', TEXTS.signIn)));
    }
    if (signedIn.account.isEmailVerified) return redirectTo('/account?done=verified');
    if (request.cookie('verify') === undefined) return showRefused(request, refuse('BAD_REQUEST', TEXTS.noLink));
    const body = card(
      html`<p>${TEXTS.confirm(signedIn.account.email)}</p>`,
      request.form(VERIFY, button(TEXTS.verify)),
    );
    return show(request, body);
  },
  POST: async (request) => {
    const { signedIn } = request;
    if (signedIn === undefined) return redirectTo('/sign-in');
    const { accounts, cookies, addressOf } = request.services;
    const from = addressOf(request.exchange.request);
    const refused = await accounts.verifyEmail(signedIn.account, request.cookie('verify') ?? '', from);
    const kept = [cookies.write('verify', undefined)];
    if (refused !== undefined) return { ...showRefused(request, refused), cookies: kept };
    return redirectTo('/console?done=verified', kept);
  },
};

/** Mails the link again at `/account/verify/send`. */
export const sendVerificationForm: AccountMethods = {
  GET: () => redirectTo('/account'),
  POST: async (request) => {
    const { signedIn } = request;
    if (signedIn === undefined) return redirectTo('/sign-in');
    const refused = await request.services.accounts.sendVerification(signedIn.account);
    if (refused === undefined) return redirectTo('/account?done=verification');
    if (refused.code === 'CONFLICT') return redirectTo('/account?done=verified');
    return showRefused(request, refused);
  },
};

function show(request: AccountRequest, body: Html, refusal?: Refusal): PageResponse {
  return showOwnerPage(request, { title: TEXTS.title, body, refusal, isNarrow: true });
}

/** The link or the mail that was asked for is not to be had. The account has the button that mails another one. */
function showRefused(request: AccountRequest, refusal: Refusal): PageResponse {
  const body = html`${errorSummary(refusal.message)}\n${card(linkLine('/account', TEXTS.back))}`;
  return show(request, body, refusal);
}
