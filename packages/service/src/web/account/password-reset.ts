import { html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { type AccountMethods, type AccountRequest, showAccountPage } from '#web/credentials/account-services.ts';
import { goOn, placeOf } from '#web/account/after-sign-in.ts';
import {
  accountEmailField,
  EMAIL_LENGTH_MAX,
  newPasswordFault,
  newPasswordField,
} from '#web/credentials/credential-fields.ts';
import { PASSWORD_RESET_TEXTS as TEXTS } from '#web/credentials/texts.ts';
import { errorSummary } from '#web/components/notices.ts';
import { button, card, linkLine } from '#web/components/parts.ts';
import type { PageResponse } from '#web/frame/page.ts';
import { keptToken } from '#web/frame/mailed-token.ts';

/**
 * Asks for the mail at `/password-reset`. The answer is the same for every address and does not wait for the mail, so
 * that neither its words nor its duration tell who has an account.
 */
export const askResetPage: AccountMethods = {
  GET: (request) => askForm(request),
  POST: async (request, form) => {
    const { accounts, addressOf, inBackground } = request.services;
    const tooMany = await accounts.admitReset(addressOf(request.exchange.request));
    if (tooMany !== undefined) return askForm(request, tooMany);
    const email = form.field('email');
    if (email.length <= EMAIL_LENGTH_MAX) inBackground(accounts.requestReset(email));
    return askedPage(request);
  },
};

/**
 * Makes the page `/password-reset/use`, where the link in the mail leads. The token moves into a cookie at once, and
 * the browser gets the address again without it: the token then stands in no history and no referrer. Opening the link
 * does not use it up, because mail scanners open links too.
 */
export const useResetPage: AccountMethods = {
  GET: (request) => {
    const moved = keptToken(request, 'reset', '/password-reset/use');
    if (moved !== undefined) return moved;
    if (request.cookie('reset') === undefined) return voidPage(request, refuse('BAD_REQUEST', TEXTS.noLink));
    return useForm(request);
  },
  POST: async (request, form) => {
    const password = form.field('new-password');
    const fault = newPasswordFault(password);
    if (fault !== undefined) return useForm(request, fault);
    const { accounts, cookies } = request.services;
    const place = placeOf(request);
    const signedIn = await accounts.resetPassword(request.cookie('reset') ?? '', password, place);
    if (signedIn instanceof Refusal) {
      // The link still works then, so the form stays.
      if (signedIn.code === 'TOO_MANY_REQUESTS') return useForm(request, signedIn);
      return { ...voidPage(request, signedIn), cookies: [cookies.write('reset', undefined)] };
    }
    return goOn(request, signedIn, '/account?done=password', [cookies.write('reset', undefined)]);
  },
};

function askForm(request: AccountRequest, refusal?: Refusal): PageResponse {
  const fields = html`${accountEmailField(TEXTS.email)}
${button(TEXTS.send)}`;
  const body = html`${errorSummary(refusal?.message)}
${card(html`<p>${TEXTS.ask}</p>`, request.form('/password-reset', fields))}
${linkLine('/sign-in', TEXTS.back)}`;
  return showAccountPage(request, { title: TEXTS.askTitle, body, refusal });
}

function askedPage(request: AccountRequest): PageResponse {
  const body = card(html`<p>${TEXTS.asked}</p>`, linkLine('/sign-in', TEXTS.back));
  return showAccountPage(request, { title: TEXTS.askedTitle, body });
}

function useForm(request: AccountRequest, refusal?: Refusal): PageResponse {
  const fields = html`${newPasswordField()}
${button(TEXTS.set)}`;
  const body = html`${errorSummary(refusal?.message)}
${card(html`<p>${TEXTS.use}</p>`, request.form('/password-reset/use', fields))}`;
  return showAccountPage(request, { title: TEXTS.useTitle, body, refusal });
}

function voidPage(request: AccountRequest, refusal: Refusal): PageResponse {
  const body = html`${errorSummary(refusal.message)}
${linkLine('/password-reset', TEXTS.again)}`;
  return showAccountPage(request, { title: TEXTS.voidTitle, body, refusal });
}
