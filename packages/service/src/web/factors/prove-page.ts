import { html } from '#kernel/text/html.ts';
import type { Refusal } from '#kernel/faults/refusal.ts';
import type { SignedIn } from '#developers/sessions/session.ts';
import type { AccountMethods, AccountRequest } from '#web/credentials/account-services.ts';
import {
  factorCodeField,
  passkeyForm,
  passkeyNeeds,
  presentPasswordField,
} from '#web/credentials/credential-fields.ts';
import { SSO, thenOf } from '#web/credentials/sso-paths.ts';
import { PROVE_TEXTS as TEXTS } from '#web/credentials/texts.ts';
import { hiddenField } from '#web/fields/fields.ts';
import { errorSummary } from '#web/components/notices.ts';
import { button, buttonLink, card, linkLine } from '#web/components/parts.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';
import { showOwnerPage } from '#web/frame/owner-page.ts';

const PROVE = '/account/prove';

/** The address of the proof, and of the page that needs it. */
export function provePath(then: string): string {
  return `${PROVE}?then=${encodeURIComponent(then)}`;
}

/** Asks at `/account/prove` who somebody is once more, before a change that a stolen session must not make (CP-06). */
export const provePage: AccountMethods = {
  GET: async (request) => {
    const then = thenOf(request.query.get('then'));
    if (request.signedIn === undefined) return redirectTo('/sign-in');
    // The proof was made in a tab of its own, because another one has a form that waits for it.
    if (request.signedIn.isProved && request.query.has('done')) return showProved(request);
    return request.signedIn.isProved ? redirectTo(then) : showProof(request, request.signedIn, { to: then });
  },
  POST: async (request, form) => {
    const { services, signedIn } = request;
    if (signedIn === undefined) return redirectTo('/sign-in');
    const then = thenOf(form.field('then'));
    const credential = form.field('credential');
    const refusal = await services.accounts.prove(signedIn, {
      ...(credential === '' ? { password: form.field('password'), code: form.field('code') } : { credential }),
      from: services.addressOf(request.exchange.request),
    });
    return refusal === undefined ? redirectTo(then) : showProof(request, signedIn, { to: then, refusal });
  },
};

function showProved(request: AccountRequest): PageResponse {
  const body = card(html`<p>${TEXTS.proved}</p>`);
  return showOwnerPage(request, { title: TEXTS.provedTitle, body, isNarrow: true });
}

async function showProof(
  request: AccountRequest,
  { account }: SignedIn,
  { to, refusal }: { readonly to: string; readonly refusal?: Refusal },
): Promise<PageResponse> {
  const { services } = request;
  const { accounts } = services;
  if (account.isSso) {
    const way = buttonLink(`${SSO}?for=proof&then=${encodeURIComponent(to)}`, TEXTS.through(accounts.sso?.name ?? ''));
    const body = html`${errorSummary(refusal?.message)}
${card(html`<p>${TEXTS.why}</p>`, way)}
${linkLine(to, TEXTS.back)}`;
    return showOwnerPage(request, { title: TEXTS.title, body, refusal, isNarrow: true });
  }
  const passkeyOptions = await accounts.passkeyProofOptions(account.accountId);
  const more = hiddenField('then', to);
  const fields = html`${more}
<input type="email" name="email" value="${account.email}" autocomplete="username" readonly hidden>
${presentPasswordField(TEXTS.password)}
${account.hasSecondFactor ? factorCodeField(TEXTS.code) : undefined}
${button(TEXTS.prove)}`;
  const body = html`${errorSummary(refusal?.message)}
${card(html`<p>${TEXTS.why}</p>`, request.form(PROVE, fields))}
${passkeyOptions && passkeyForm(request, { action: PROVE, options: passkeyOptions, text: TEXTS.passkey, more })}
${linkLine(to, TEXTS.back)}`;
  const needs = passkeyOptions === undefined ? {} : passkeyNeeds(services);
  return showOwnerPage(request, { title: TEXTS.title, body, refusal, isNarrow: true, ...needs });
}
