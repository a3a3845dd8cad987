import { html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { type AccountMethods, type AccountRequest, showAccountPage } from '#web/credentials/account-services.ts';
import {
  accountEmailField,
  newPasswordField,
  passkeyForm,
  passkeyNeeds,
  presentPasswordField,
} from '#web/credentials/credential-fields.ts';
import { goOn, homeOf, placeOf } from '#web/account/after-sign-in.ts';
import { ACCOUNT_SIGN_IN_TEXTS as TEXTS, REGISTER_TEXTS } from '#web/credentials/texts.ts';
import { SSO } from '#web/credentials/sso-paths.ts';
import { errorSummary } from '#web/components/notices.ts';
import { button, buttonLink, card, linkLine } from '#web/components/parts.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';
import { registerSchema } from '@purser/contract/control.ts';

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

/** Makes an account and signs in to it at `/register`. The page is there only where the settings let anybody do so. */
export const registerPage: AccountMethods = {
  GET: (request) => (request.signedIn === undefined ? registerForm(request, '') : redirectTo('/console')),
  POST: async (request, form) => {
    const { accounts, addressOf } = request.services;
    const from = addressOf(request.exchange.request);
    const email = form.field('email');
    const typed = registerSchema.safeParse({ email, password: form.field('new-password') });
    if (!typed.success) return registerForm(request, email, refuse('BAD_REQUEST', REGISTER_TEXTS.unfit));
    const made = await accounts.register({ ...typed.data, name: undefined, role: 'owner', from });
    if (made instanceof Refusal) return registerForm(request, email, made);
    const signedIn = await accounts.signIn({ ...typed.data, ...placeOf(request) });
    // The account is there all the same: only the sign-in has to wait.
    return signedIn instanceof Refusal ? redirectTo('/sign-in') : goOn(request, signedIn, '/console?done=registered');
  },
};

/** The form. It keeps the e-mail address that was typed, and never a password. */
function registerForm(request: AccountRequest, email: string, refusal?: Refusal): PageResponse {
  const fields = html`${accountEmailField(REGISTER_TEXTS.email, email)}
${newPasswordField()}
${button(REGISTER_TEXTS.create)}`;
  const body = html`${errorSummary(refusal?.message)}
${card(html`<p>${REGISTER_TEXTS.what}</p>`, request.form('/register', fields))}
${linkLine('/sign-in', REGISTER_TEXTS.signIn)}`;
  return showAccountPage(request, { title: REGISTER_TEXTS.title, body, refusal });
}
