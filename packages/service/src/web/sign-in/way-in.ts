import { type Html, html } from '#kernel/text/html.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import { hiddenField } from '#web/fields/fields.ts';
import { errorSummary } from '#web/components/notices.ts';
import { button, card, linkLine } from '#web/components/parts.ts';
import { redirectTo, refusedBy } from '#web/frame/page.ts';
import { SIGN_IN_TEXTS } from '#web/sign-in/texts.ts';
import { CODE, SIGN_IN, SIGN_IN_OWN } from '#web/wallet-owner/return-path.ts';
import type { WalletOwnerMethods, WalletOwnerRequest } from '#web/wallet-owner/services.ts';
import { walletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';

/**
 * Mails a code to a person who opened the link of a way in. Opening the page sends nothing, because mail scanners open
 * links too.
 */
export const wayInPage: WalletOwnerMethods = {
  GET: (request) => {
    const token = request.query.get('token') ?? '';
    const status = request.services.codes.emailOfWayIn(token) === undefined ? 400 : 200;
    return { status, page: formPage(request, { token }) };
  },
  POST: async (request, form) => {
    const token = form.field('token');
    const { codes, cookies } = request.services;
    const asked = await codes.askByWayIn({ token, before: request.cookie('code') });
    if (asked instanceof Refusal) return refusedBy(asked, formPage(request, { token, fault: asked.message }));
    return redirectTo(CODE, [cookies.write('code', asked.challenge)]);
  },
};

/** The button that has the code mailed. A link that is no longer valid has none. */
function formPage(
  request: WalletOwnerRequest,
  { token, fault }: { readonly token: string; readonly fault?: string },
): Html {
  const { services } = request;
  const email = services.codes.emailOfWayIn(token);
  const fields = html`${hiddenField('token', token)}
${button(SIGN_IN_TEXTS.send)}`;
  const shown = email === undefined ? SIGN_IN_TEXTS.ownVoid : fault;
  const body = html`${errorSummary(shown)}
${email && card(html`<p>${SIGN_IN_TEXTS.own(email)}</p>`, request.form(SIGN_IN_OWN, fields))}
${linkLine(SIGN_IN, SIGN_IN_TEXTS.otherEmail)}`;
  return walletOwnerPage(services, { title: SIGN_IN_TEXTS.ownTitle, body, isError: shown !== undefined });
}
