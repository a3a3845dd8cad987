import { type Html, html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { AccountServices } from '#web/credentials/account-services.ts';
import { accountEmailField, EMAIL_LENGTH_MAX } from '#web/credentials/email-field.ts';
import { goOn, placeOf } from '#web/account/after-sign-in.ts';
import { newPasswordFault, newPasswordField } from '#web/credentials/password-fields.ts';
import { PASSWORD_RESET_TEXTS as TEXTS } from '#web/credentials/texts.ts';
import { button } from '#web/components/button.ts';
import { linkLine } from '#web/components/navigation.ts';
import { errorSummary } from '#web/components/notices.ts';
import { card } from '#web/components/section.ts';
import type { PageMethods, PageRequest } from '#web/frame/page.ts';
import { type Frame, pageOf } from '#web/frame/page-shell.ts';
import { redirectTo, refusedBy } from '#web/frame/responses.ts';

/** The form of a token. Anything else in the address is dropped, and the page says that the link is not complete. */
const TOKEN = /^[0-9A-Za-z]{1,256}$/;

/**
 * Asks for the mail at `/password-reset`. The answer is the same for every address and does not wait for the mail, so
 * that neither its words nor its duration tell who has an account.
 */
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
 * Makes the page `/password-reset/use`, where the link in the mail leads. The token moves into a cookie at once, and
 * the browser gets the address again without it: the token then stands in no history and no referrer. Opening the link
 * does not use it up, because mail scanners open links too.
 */
export function useResetPage(services: AccountServices): PageMethods {
  const { accounts, cookies, frame } = services;
  return {
    GET: (request) => {
      const token = request.query.get('token');
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
      const place = placeOf(services, request);
      const signedIn = await accounts.resetPassword(request.cookie('reset') ?? '', password, place);
      if (signedIn instanceof Refusal) {
        // The link still works then, so the form stays.
        if (signedIn.code === 'TOO_MANY_REQUESTS')
          return refusedBy(signedIn, useForm(frame, request, signedIn.message));
        return { ...refusedBy(signedIn, voidPage(frame, signedIn)), cookies: [cookies.write('reset', undefined)] };
      }
      return goOn(services, request, signedIn, '/account?done=password', [cookies.write('reset', undefined)]);
    },
  };
}

function askForm(frame: Frame, request: PageRequest, fault?: string): Html {
  const fields = html`${accountEmailField(TEXTS.email)}
${button(TEXTS.send)}`;
  const body = html`${errorSummary(fault)}
${card(html`<p>${TEXTS.ask}</p>`, request.form('/password-reset', fields))}
${linkLine('/sign-in', TEXTS.back)}`;
  return pageOf({ title: TEXTS.askTitle, body, frame, isError: fault !== undefined });
}

function askedPage(frame: Frame): Html {
  const body = card(html`<p>${TEXTS.asked}</p>`, linkLine('/sign-in', TEXTS.back));
  return pageOf({ title: TEXTS.askedTitle, body, frame });
}

function useForm(frame: Frame, request: PageRequest, fault?: string): Html {
  const fields = html`${newPasswordField()}
${button(TEXTS.set)}`;
  const body = html`${errorSummary(fault)}
${card(html`<p>${TEXTS.use}</p>`, request.form('/password-reset/use', fields))}`;
  return pageOf({ title: TEXTS.useTitle, body, frame, isError: fault !== undefined });
}

function voidPage(frame: Frame, { message }: Refusal): Html {
  const body = html`${errorSummary(message)}
${linkLine('/password-reset', TEXTS.again)}`;
  return pageOf({ title: TEXTS.voidTitle, body, frame, isError: true });
}

function noLink(): Refusal<'BAD_REQUEST'> {
  return refuse('BAD_REQUEST', TEXTS.noLink);
}
