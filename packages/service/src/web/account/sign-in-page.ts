import { html } from '#kernel/text/html.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import { type AccountMethods, type AccountRequest, showAccountPage } from '#web/credentials/account-services.ts';
import {
  accountEmailField,
  passkeyForm,
  passkeyNeeds,
  presentPasswordField,
} from '#web/credentials/credential-fields.ts';
import { goOn, homeOf, placeOf } from '#web/account/after-sign-in.ts';
import { ACCOUNT_SIGN_IN_TEXTS as TEXTS } from '#web/credentials/texts.ts';
import { SSO } from '#web/credentials/sso-paths.ts';
import { errorSummary } from '#web/components/notices.ts';
import { button, buttonLink, card, linkLine } from '#web/components/parts.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';

/** Signs in by e-mail address and password at `/sign-in`. */
export const signInPage: AccountMethods = {
  GET: (request) =>
    request.signedIn === undefined ? signInForm(request, '') : redirectTo(homeOf(request, request.signedIn.account)),
  POST: async (request, form) => {
    const email = form.field('email');
    const signedIn = await request.services.accounts.signIn({
      email,
      password: form.field('password'),
      // A browser that has signed in before has tries of its own: strangers who guess cannot use them up.
      ...placeOf(request),
    });
    if (signedIn instanceof Refusal) return signInForm(request, email, signedIn);
    // Somebody who opened the link of the mail before they signed in goes on to it.
    return goOn(request, signedIn, request.cookie('verify') === undefined ? undefined : '/account/verify');
  },
};

/**
 * Ends the session of this browser at `/sign-out`. The browser stays known, so that strangers cannot lock its owner
 * out.
 */
export const signOutForm: AccountMethods = {
  GET: () => redirectTo('/account'),
  POST: async ({ services: { sessions, cookies }, signedIn }) => {
    if (signedIn !== undefined) await sessions.revoke(signedIn.account.accountId, signedIn.session.sessionId);
    return redirectTo('/sign-in', [cookies.write('session', undefined)]);
  },
};

/** The form. It keeps the e-mail address that was typed, and never a password. */
function signInForm(request: AccountRequest, email: string, refusal?: Refusal): PageResponse {
  const { isRegistrationOpen, accounts } = request.services;
  const fields = html`${accountEmailField(TEXTS.email, email)}
${presentPasswordField(TEXTS.password)}
${button(TEXTS.signIn)}`;
  const body = html`${errorSummary(refusal?.message)}
${accounts.sso && card(html`<p class="soft">${TEXTS.forOperators}</p>`, buttonLink(SSO, TEXTS.through(accounts.sso.name), 'quiet'))}
${card(request.form('/sign-in', fields))}
${passkeyForm(request, { action: '/sign-in/passkey', options: accounts.passkeySignInOptions(), text: TEXTS.passkey })}
${linkLine('/password-reset', TEXTS.forgot)}
${isRegistrationOpen ? linkLine('/register', TEXTS.register) : undefined}`;
  return { ...showAccountPage(request, { title: TEXTS.title, body, refusal }), needs: passkeyNeeds(request.services) };
}
