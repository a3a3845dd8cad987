import type { AccountPages } from '#web/account/account-pages.ts';
import { type Html, html } from '#kernel/html.ts';
import { alertOf, type Frame, pageOf } from '#web/frame/layout.ts';
import { newPasswordFault, newPasswordFields } from '#web/account/new-password.ts';
import { signedInCookies } from '#web/account/sign-in.ts';
import { PASSWORD_RESET_TEXTS as TEXTS } from '#web/account/texts.ts';
import { type PageMethods, redirectTo, refusedBy, type Visit } from '#web/frame/visit.ts';
import { Refusal, refuse } from '#kernel/refusal.ts';

const EMAIL_LENGTH_MAX = 254;
const TOKEN = /^[0-9A-Za-z]{1,256}$/;

/** `/password-reset`: asks for the mail. Its answer is the same for every e-mail, and waits for nothing that is not. */
export function askResetPage({ accounts, addressOf, inBackground, frame }: AccountPages): PageMethods {
  return {
    GET: (visit) => ({ status: 200, page: askForm(frame, visit) }),
    POST: async (visit, form) => {
      const tooMany = await accounts.admitReset(addressOf(visit.exchange.request));
      if (tooMany !== undefined) return refusedBy(tooMany, askForm(frame, visit, tooMany.message));
      const email = form.field('email');
      if (email.length <= EMAIL_LENGTH_MAX) inBackground(accounts.requestReset(email));
      return { status: 200, page: askedPage(frame) };
    },
  };
}

/**
 * `/password-reset/use`: where the link in the mail leads. The token goes into a cookie at once and the address is got
 * anew without it, so that neither history nor a referrer has it. Looking uses nothing up: scanners of mail look, too.
 */
export function useResetPage(pages: AccountPages): PageMethods {
  const { accounts, cookies, frame } = pages;
  return {
    GET: (visit) => {
      const token = new URLSearchParams(visit.exchange.query).get('token');
      if (token !== null) {
        return redirectTo('/password-reset/use', [cookies.write('reset', TOKEN.test(token) ? token : undefined)]);
      }
      if (visit.cookie('reset') === undefined) return refusedBy(noLink(), voidPage(frame, noLink()));
      return { status: 200, page: useForm(frame, visit) };
    },
    POST: async (visit, form) => {
      const password = form.field('new-password');
      const fault = newPasswordFault(password);
      if (fault !== undefined) return refusedBy(fault, useForm(frame, visit, fault.message));
      const signedIn = await accounts.resetPassword(visit.cookie('reset') ?? '', password);
      if (signedIn instanceof Refusal) {
        if (signedIn.code === 'TOO_MANY_REQUESTS') return refusedBy(signedIn, useForm(frame, visit, signedIn.message));
        return { ...refusedBy(signedIn, voidPage(frame, signedIn)), cookies: [cookies.write('reset', undefined)] };
      }
      const kept = [...signedInCookies(pages, signedIn), cookies.write('reset', undefined)];
      return redirectTo('/account?done=password', kept);
    },
  };
}

function askForm(frame: Frame, visit: Visit, fault?: string): Html {
  const fields = html`<label for="email">${TEXTS.email}</label>
<input id="email" name="email" type="email" autocomplete="username" maxlength="${EMAIL_LENGTH_MAX}" required>
<button>${TEXTS.send}</button>`;
  const body = html`${alertOf(fault)}
<div class="card">
<p>${TEXTS.ask}</p>
${visit.form('/password-reset', fields)}
</div>
<p><a href="/sign-in">${TEXTS.back}</a></p>`;
  return pageOf({ title: TEXTS.askTitle, body, frame, isError: fault !== undefined });
}

function askedPage(frame: Frame): Html {
  const body = html`<div class="card">
<p>${TEXTS.asked}</p>
<p><a href="/sign-in">${TEXTS.back}</a></p>
</div>`;
  return pageOf({ title: TEXTS.askedTitle, body, frame });
}

function useForm(frame: Frame, visit: Visit, fault?: string): Html {
  const fields = html`${newPasswordFields()}
<button>${TEXTS.set}</button>`;
  const body = html`${alertOf(fault)}
<div class="card">
<p>${TEXTS.use}</p>
${visit.form('/password-reset/use', fields)}
</div>`;
  return pageOf({ title: TEXTS.useTitle, body, frame, isError: fault !== undefined });
}

function voidPage(frame: Frame, { message }: Refusal): Html {
  const body = html`${alertOf(message)}
<p><a href="/password-reset">${TEXTS.again}</a></p>`;
  return pageOf({ title: TEXTS.voidTitle, body, frame, isError: true });
}

function noLink(): Refusal<'BAD_REQUEST'> {
  return refuse('BAD_REQUEST', TEXTS.noLink);
}
