import type { SignIn } from '#accounts/session.ts';
import type { AccountServices } from '#web/account/account-services.ts';
import { type Html, html } from '#kernel/html.ts';
import { alertOf, pageOf } from '#web/frame/page-shell.ts';
import { ACCOUNT_SIGN_IN_TEXTS as TEXTS } from '#web/account/texts.ts';
import { type PageMethods, redirectTo, refusedBy, toAccount, type PageRequest } from '#web/frame/page-handlers.ts';
import { Refusal } from '#kernel/refusal.ts';

/** `/sign-in`. */
export function signInPage(services: AccountServices): PageMethods {
  return {
    GET: (request) =>
      request.signedIn === undefined
        ? { status: 200, page: signInForm(services, request, '') }
        : redirectTo('/account'),
    POST: async (request, form) => {
      const email = form.field('email');
      const signedIn = await services.accounts.signIn({
        email,
        password: form.field('password'),
        device: request.cookie('device'),
        from: services.addressOf(request.exchange.request),
      });
      if (signedIn instanceof Refusal)
        return refusedBy(signedIn, signInForm(services, request, email, signedIn.message));
      return redirectTo('/account', signedInCookies(services, signedIn));
    },
  };
}

/** `/sign-out`: ends the session of this browser, which stays known. */
export function signOutPage({ sessions, cookies }: AccountServices): PageMethods {
  return {
    GET: toAccount,
    POST: async ({ signedIn }) => {
      if (signedIn !== undefined) await sessions.revoke(signedIn.account.accountId, signedIn.session.sessionId);
      return redirectTo('/sign-in', [cookies.write('session', undefined)]);
    },
  };
}

/** What a browser keeps that has just signed in. */
export function signedInCookies(
  { cookies }: Pick<AccountServices, 'cookies'>,
  { token, device }: SignIn,
): readonly string[] {
  return [cookies.write('session', token), cookies.write('device', device)];
}

function signInForm(
  { frame }: Pick<AccountServices, 'frame'>,
  request: PageRequest,
  email: string,
  fault?: string,
): Html {
  const fields = html`<label for="email">${TEXTS.email}</label>
<input id="email" name="email" type="email" autocomplete="username" maxlength="254" required value="${email}">
<label for="password">${TEXTS.password}</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="256" required>
<button>${TEXTS.signIn}</button>`;
  const body = html`${alertOf(fault)}
<div class="card">
${request.form('/sign-in', fields)}
</div>
<p><a href="/password-reset">${TEXTS.forgot}</a></p>`;
  return pageOf({ title: TEXTS.title, body, frame, isError: fault !== undefined });
}
