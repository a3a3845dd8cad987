import type { AuthenticatorOffer } from '#developers/factors/authenticator-setup.ts';
import type { SignedIn } from '#developers/sessions/session.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import type { AccountMethods, AccountRequest } from '#web/credentials/account-services.ts';
import { factorCodeField } from '#web/credentials/credential-fields.ts';
import { provePath } from '#web/factors/prove-page.ts';
import { qrCode } from '#web/factors/qr-code.ts';
import { enrolmentField, SECOND_FACTOR, showCodes } from '#web/factors/second-factor-page.ts';
import { AUTHENTICATOR_TEXTS as TEXTS } from '#web/credentials/texts.ts';
import { hiddenField } from '#web/fields/fields.ts';
import { errorSummary } from '#web/components/notices.ts';
import { button, card, linkLine } from '#web/components/parts.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';
import { showOwnerPage } from '#web/frame/owner-page.ts';

const AUTHENTICATOR = '/account/authenticator';

/**
 * Sets up an authenticator app at `/account/authenticator`. The secret is in the form, sealed, until a code confirms
 * it.
 */
export const authenticatorPage: AccountMethods = {
  GET: async (request) =>
    request.signedIn === undefined ? redirectTo('/sign-in') : offer(request, request.signedIn, {}),
  POST: async (request, form) => {
    const { services, signedIn } = request;
    if (signedIn === undefined) return redirectTo('/sign-in');
    const by = { signedIn, from: services.addressOf(request.exchange.request) };
    const given = {
      setupToken: form.field('setup'),
      code: form.field('code'),
      enrolmentCode: form.field('enrolment'),
    };
    const added = await services.accounts.secondFactors.addAuthenticator(by, given);
    if (added instanceof Refusal) {
      if (added.code === 'FORBIDDEN') return redirectTo(provePath(AUTHENTICATOR));
      return offer(request, signedIn, { refusal: added, begun: given.setupToken });
    }
    if (added.recoveryCodes !== undefined) return showCodes(request, added.recoveryCodes);
    return redirectTo(`${SECOND_FACTOR}?done=authenticator-added`);
  },
};

async function offer(
  request: AccountRequest,
  signedIn: SignedIn,
  // After a mistyped code, the same secret again: the person has it in their app by now.
  { refusal, begun }: { readonly refusal?: Refusal; readonly begun?: string },
): Promise<PageResponse> {
  const offered = await request.services.accounts.secondFactors.offerAuthenticator({ signedIn, from: '' }, begun);
  const more = enrolmentField(request, signedIn);
  if (!(offered instanceof Refusal)) return showForm(request, { ...offered, more }, refusal);
  return redirectTo(offered.code === 'FORBIDDEN' ? provePath(AUTHENTICATOR) : SECOND_FACTOR);
}

function showForm(
  request: AccountRequest,
  { secret, otpauthUri, setupToken, more }: AuthenticatorOffer & { readonly more: Html | undefined },
  refusal?: Refusal,
): PageResponse {
  const groups = secret.match(/.{1,4}/g) ?? [];
  const fields = html`${hiddenField('setup', setupToken)}
${factorCodeField(TEXTS.codeHint)}
${more}
${button(TEXTS.confirm)}`;
  const body = html`${errorSummary(refusal?.message)}
${card(
  html`<p>${TEXTS.scan}</p>`,
  qrCode(otpauthUri, TEXTS.qr),
  html`<p>${TEXTS.type}</p>`,
  html`<p><code>${groups.join(' ')}</code></p>`,
  linkLine(otpauthUri, TEXTS.open),
  html`<p class="soft">${TEXTS.secretHint}</p>`,
)}
${card(html`<p>${TEXTS.next}</p>`, request.form(AUTHENTICATOR, fields))}
${linkLine(SECOND_FACTOR, TEXTS.back)}`;
  return showOwnerPage(request, { title: TEXTS.title, body, refusal, isNarrow: true });
}
