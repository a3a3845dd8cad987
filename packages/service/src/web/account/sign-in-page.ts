import { type Html, html } from '#kernel/text/html.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import type { AccountServices } from '#web/credentials/account-services.ts';
import { presentPasswordField } from '#web/credentials/password-fields.ts';
import { goOn, homeOf, placeOf } from '#web/account/after-sign-in.ts';
import { passkeyForm, passkeyNeeds } from '#web/credentials/passkey-form.ts';
import { accountEmailField } from '#web/credentials/email-field.ts';
import { ACCOUNT_SIGN_IN_TEXTS as TEXTS } from '#web/credentials/texts.ts';
import { SSO } from '#web/credentials/sso-paths.ts';
import { button, buttonLink } from '#web/components/button.ts';
import { linkLine } from '#web/components/navigation.ts';
import { errorSummary } from '#web/components/notices.ts';
import { card } from '#web/components/section.ts';
import type { PageMethods, PageRequest } from '#web/frame/page.ts';
import { pageOf } from '#web/frame/page-shell.ts';
import { redirectTo, refusedBy } from '#web/frame/responses.ts';

/** Signs in by e-mail address and password at `/sign-in`. */
export function signInPage(services: AccountServices): PageMethods {
  const needs = passkeyNeeds(services);
  return {
    GET: (request) =>
      request.signedIn === undefined
        ? { status: 200, page: signInForm(services, request, ''), needs }
        : redirectTo(homeOf(request, request.signedIn.account)),
    POST: async (request, form) => {
      const email = form.field('email');
      const signedIn = await services.accounts.signIn({
        email,
        password: form.field('password'),
        // A browser that has signed in before has tries of its own: strangers who guess cannot use them up.
        ...placeOf(services, request),
      });
      if (signedIn instanceof Refusal)
        return { ...refusedBy(signedIn, signInForm(services, request, email, signedIn.message)), needs };
      // Somebody who opened the link of the mail before they signed in goes on to it.
      return goOn(services, request, signedIn, request.cookie('verify') === undefined ? undefined : '/account/verify');
    },
  };
}

/**
 * Ends the session of this browser at `/sign-out`. The browser stays known, so that strangers cannot lock its owner
 * out.
 */
export function signOutForm({ sessions, cookies }: AccountServices): PageMethods {
  return {
    GET: () => redirectTo('/account'),
    POST: async ({ signedIn }) => {
      if (signedIn !== undefined) await sessions.revoke(signedIn.account.accountId, signedIn.session.sessionId);
      return redirectTo('/sign-in', [cookies.write('session', undefined)]);
    },
  };
}

/** The form. It keeps the e-mail address that was typed, and never a password. */
function signInForm(services: AccountServices, request: PageRequest, email: string, fault?: string): Html {
  const { frame, isRegistrationOpen, accounts } = services;
  const fields = html`${accountEmailField(TEXTS.email, email)}
${presentPasswordField(TEXTS.password)}
${button(TEXTS.signIn)}`;
  const body = html`${errorSummary(fault)}
${accounts.sso && card(html`<p class="soft">${TEXTS.forOperators}</p>`, buttonLink(SSO, TEXTS.through(accounts.sso.name), 'quiet'))}
${card(request.form('/sign-in', fields))}
${passkeyForm(services, request, { action: '/sign-in/passkey', options: accounts.passkeySignInOptions(), text: TEXTS.passkey })}
${linkLine('/password-reset', TEXTS.forgot)}
${isRegistrationOpen ? linkLine('/register', TEXTS.register) : undefined}`;
  return pageOf({ title: TEXTS.title, body, frame, isError: fault !== undefined });
}
