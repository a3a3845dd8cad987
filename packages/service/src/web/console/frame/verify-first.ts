import { type Html, html } from '#kernel/text/html.ts';
import { button } from '#web/components/button.ts';
import type { AppRequest } from '#web/console/frame/app-page.ts';
import { CONSOLE_TEXTS as TEXTS } from '#web/console/frame/texts.ts';

/** Stands in place of a live act that an account may not do before its e-mail is proven. Undefined if it may. */
export function verifyFirst({ mode, request, signedIn }: AppRequest): Html | undefined {
  const { email, isEmailVerified } = signedIn.account;
  if (mode === 'sandbox' || isEmailVerified) return undefined;
  return html`<p>${TEXTS.verifyFirst(email)}</p>
${request.form('/account/verify/send', button(TEXTS.sendAgain))}`;
}
