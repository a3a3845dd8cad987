import { html } from '#kernel/html.ts';
import { refuse } from '#kernel/refusal.ts';
import type { AccountServices } from '#web/account/account-services.ts';
import { VERIFY_TEXTS as TEXTS } from '#web/account/texts.ts';
import { button } from '#web/components/button.ts';
import { linkLine } from '#web/components/navigation.ts';
import { errorSummary } from '#web/components/notices.ts';
import { card } from '#web/components/section.ts';
import type { PageMethods } from '#web/frame/page.ts';
import { pageOf } from '#web/frame/page-shell.ts';
import { redirectTo, refusedBy } from '#web/frame/responses.ts';

const VERIFY = '/account/verify';
/** The form of a token. Anything else in the address is dropped. */
const TOKEN = /^[0-9A-Za-z]{1,256}$/;

/**
 * `/account/verify`: where the link in the mail leads. The token moves into a cookie, so that it stands in no history. Opening the
 * link verifies nothing, because mail scanners open links too. The button works for the account that the mail is for, and for
 * nobody else who is signed in.
 */
export function verifyPage({ accounts, cookies, frame, addressOf }: AccountServices): PageMethods {
  const voidPage = (message: string) =>
    pageOf({
      title: TEXTS.title,
      body: html`${errorSummary(message)}\n${linkLine('/account', TEXTS.back)}`,
      frame,
      isError: true,
    });
  return {
    GET: (request) => {
      const token = request.query.get('token');
      if (token !== null) {
        return redirectTo(VERIFY, [cookies.write('verify', TOKEN.test(token) ? token : undefined)]);
      }
      const { signedIn } = request;
      if (signedIn === undefined) {
        const body = card(html`<p>${TEXTS.signInFirst}</p>`, linkLine('/sign-in', TEXTS.signIn));
        return { status: 200, page: pageOf({ title: TEXTS.title, body, frame }) };
      }
      if (signedIn.account.isEmailVerified) return redirectTo('/account?done=verified');
      if (request.cookie('verify') === undefined) {
        return refusedBy(refuse('BAD_REQUEST', TEXTS.noLink), voidPage(TEXTS.noLink));
      }
      const body = card(
        html`<p>${TEXTS.confirm(signedIn.account.email)}</p>`,
        request.form(VERIFY, button(TEXTS.verify)),
      );
      return { status: 200, page: pageOf({ title: TEXTS.title, body, frame }) };
    },
    POST: async (request) => {
      const { signedIn } = request;
      if (signedIn === undefined) return redirectTo('/sign-in');
      const from = addressOf(request.exchange.request);
      const refused = await accounts.verifyEmail(signedIn.account, request.cookie('verify') ?? '', from);
      const kept = [cookies.write('verify', undefined)];
      if (refused !== undefined) return { ...refusedBy(refused, voidPage(refused.message)), cookies: kept };
      return redirectTo('/console?done=verified', kept);
    },
  };
}

/** `/account/verify/send`: mails the link again. */
export function sendVerificationForm({ accounts, frame }: AccountServices): PageMethods {
  return {
    GET: () => redirectTo('/account'),
    POST: async ({ signedIn }) => {
      if (signedIn === undefined) return redirectTo('/sign-in');
      const refused = await accounts.sendVerification(signedIn.account);
      if (refused === undefined) return redirectTo('/account?done=verification');
      if (refused.code === 'CONFLICT') return redirectTo('/account?done=verified');
      const body = html`${errorSummary(refused.message)}\n${linkLine('/account', TEXTS.back)}`;
      return refusedBy(refused, pageOf({ title: TEXTS.title, body, frame, isError: true }));
    },
  };
}
