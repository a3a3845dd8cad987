import type { AccountServices } from '#web/account/account-services.ts';
import { type Html, html } from '#kernel/html.ts';
import { alertOf, type Frame, pageOf } from '#web/frame/page-shell.ts';
import { newPasswordFault, newPasswordFields } from '#web/account/new-password.ts';
import { signedInCookies } from '#web/account/owner-sign-in.ts';
import { PASSWORD_RESET_TEXTS as TEXTS } from '#web/account/texts.ts';
import { type PageMethods, redirectTo, refusedBy, type PageRequest } from '#web/frame/page-handlers.ts';
import { Refusal, refuse } from '#kernel/refusal.ts';

const EMAIL_LENGTH_MAX = 254;
const TOKEN = /^[0-9A-Za-z]{1,256}$/;

/** `/password-reset`: asks for the mail. Its answer is the same for every e-mail, and waits for nothing that is not. */
export function askResetPage({ accounts, addressOf, inBackground, frame }: AccountServices): PageMethods {
  return {
    GET: (request) => ({ status: 200, page: askForm(frame, request) }),
    POST: async (request, form) => {
      const tooMany = await accounts.admitReset(addressOf(request.exchange.request));
      if (tooMany !== undefined) return refusedBy(tooMany, askForm(frame, request, tooMany.message));
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
export function useResetPage(services: AccountServices): PageMethods {
  const { accounts, cookies, frame } = services;
  return {
    GET: (request) => {
      const token = new URLSearchParams(request.exchange.query).get('token');
      if (token !== null) {
        return redirectTo('/password-reset/use', [cookies.write('reset', TOKEN.test(token) ? token : undefined)]);
      }
      if (request.cookie('reset') === undefined) return refusedBy(noLink(), voidPage(frame, noLink()));
      return { status: 200, page: useForm(frame, request) };
    },
    POST: async (request, form) => {
      const password = form.field('new-password');
      const fault = newPasswordFault(password);
      if (fault !== undefined) return refusedBy(fault, useForm(frame, request, fault.message));
      const signedIn = await accounts.resetPassword(request.cookie('reset') ?? '', password);
      if (signedIn instanceof Refusal) {
        if (signedIn.code === 'TOO_MANY_REQUESTS')
          return refusedBy(signedIn, useForm(frame, request, signedIn.message));
        return { ...refusedBy(signedIn, voidPage(frame, signedIn)), cookies: [cookies.write('reset', undefined)] };
      }
      const kept = [...signedInCookies(services, signedIn), cookies.write('reset', undefined)];
      return redirectTo('/account?done=password', kept);
    },
  };
}

function askForm(frame: Frame, request: PageRequest, fault?: string): Html {
  const fields = html`<label for="email">${TEXTS.email}</label>
<input id="email" name="email" type="email" autocomplete="username" maxlength="${EMAIL_LENGTH_MAX}" required>
<button>${TEXTS.send}</button>`;
  const body = html`${alertOf(fault)}
<div class="card">
<p>${TEXTS.ask}</p>
${request.form('/password-reset', fields)}
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

function useForm(frame: Frame, request: PageRequest, fault?: string): Html {
  const fields = html`${newPasswordFields()}
<button>${TEXTS.set}</button>`;
  const body = html`${alertOf(fault)}
<div class="card">
<p>${TEXTS.use}</p>
${request.form('/password-reset/use', fields)}
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
