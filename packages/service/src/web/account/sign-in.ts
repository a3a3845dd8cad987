import type { SignIn } from '#accounts/session.ts';
import type { AccountPages } from '#web/account/account-pages.ts';
import { type Html, html } from '#kernel/html.ts';
import { alertOf, pageOf } from '#web/frame/layout.ts';
import { ACCOUNT_SIGN_IN_TEXTS as TEXTS } from '#web/account/texts.ts';
import { type PageMethods, redirectTo, refusedBy, toAccount, type Visit } from '#web/frame/visit.ts';
import { Refusal } from '#kernel/refusal.ts';

/** `/sign-in`. */
export function signInPage(pages: AccountPages): PageMethods {
  return {
    GET: (visit) =>
      visit.signedIn === undefined ? { status: 200, page: signInForm(pages, visit, '') } : redirectTo('/account'),
    POST: async (visit, form) => {
      const email = form.field('email');
      const signedIn = await pages.accounts.signIn({
        email,
        password: form.field('password'),
        device: visit.cookie('device'),
        from: pages.addressOf(visit.exchange.request),
      });
      if (signedIn instanceof Refusal) return refusedBy(signedIn, signInForm(pages, visit, email, signedIn.message));
      return redirectTo('/account', signedInCookies(pages, signedIn));
    },
  };
}

/** `/sign-out`: ends the session of this browser, which stays known. */
export function signOutPage({ sessions, cookies }: AccountPages): PageMethods {
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
  { cookies }: Pick<AccountPages, 'cookies'>,
  { token, device }: SignIn,
): readonly string[] {
  return [cookies.write('session', token), cookies.write('device', device)];
}

function signInForm({ frame }: Pick<AccountPages, 'frame'>, visit: Visit, email: string, fault?: string): Html {
  const fields = html`<label for="email">${TEXTS.email}</label>
<input id="email" name="email" type="email" autocomplete="username" maxlength="254" required value="${email}">
<label for="password">${TEXTS.password}</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="256" required>
<button>${TEXTS.signIn}</button>`;
  const body = html`${alertOf(fault)}
<div class="card">
${visit.form('/sign-in', fields)}
</div>
<p><a href="/password-reset">${TEXTS.forgot}</a></p>`;
  return pageOf({ title: TEXTS.title, body, frame, isError: fault !== undefined });
}
