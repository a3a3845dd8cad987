import { html } from '#kernel/text/html.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import { type AccountMethods, type AccountRequest, showAccountPage } from '#web/credentials/account-services.ts';
import { goOn, placeOf, SECOND_STEP } from '#web/account/after-sign-in.ts';
import { factorCodeField, passkeyForm, passkeyNeeds } from '#web/credentials/credential-fields.ts';
import { SECOND_STEP_TEXTS as TEXTS } from '#web/credentials/texts.ts';
import { errorSummary } from '#web/components/notices.ts';
import { button, card, linkLine } from '#web/components/parts.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';

/** Makes the page `/sign-in/second-factor`, which is the second step of a sign-in. */
export const secondStepPage: AccountMethods = {
  GET: async (request) => {
    if (request.signedIn !== undefined) return redirectTo('/console');
    return (await showStep(request)) ?? redirectTo('/sign-in');
  },
  POST: (request, form) => finish(request, { code: form.field('code') }),
};

/** Takes what a passkey signed at `/sign-in/passkey`, as the second step or as the only one. */
export const passkeySignInForm: AccountMethods = {
  GET: () => redirectTo('/sign-in'),
  POST: async (request, form) => {
    const credential = form.field('credential');
    if (form.field('step') === 'second') return finish(request, { credential });
    const signedIn = await request.services.accounts.signInByPasskey(credential, placeOf(request));
    return signedIn instanceof Refusal ? voidPage(request, signedIn) : goOn(request, signedIn);
  },
};

async function finish(
  request: AccountRequest,
  answer: { readonly code: string } | { readonly credential: string },
): Promise<PageResponse> {
  const pendingToken = request.cookie('pending') ?? '';
  const place = placeOf(request);
  const signedIn = await request.services.accounts.finishSignIn({ ...answer, pendingToken, place });
  if (!(signedIn instanceof Refusal)) return goOn(request, signedIn);
  return (await showStep(request, signedIn)) ?? voidPage(request, signedIn);
}

/** The form of the second step. Undefined when no sign-in waits for it. */
async function showStep(request: AccountRequest, refusal?: Refusal): Promise<PageResponse | undefined> {
  const { services } = request;
  const { accounts } = services;
  const pending = await accounts.pending(request.cookie('pending') ?? '');
  if (pending === undefined) return undefined;
  const { methods, passkeyOptions } = pending;
  const hasCodes = methods.some((method) => method !== 'passkey');
  const hint = methods.includes('authenticator') && methods.includes('recovery_code') ? TEXTS.lost : undefined;
  const body = html`${errorSummary(refusal?.message)}
${
  passkeyOptions &&
  passkeyForm(request, {
    action: '/sign-in/passkey',
    options: passkeyOptions,
    text: TEXTS.passkey,
    more: html`<input type="hidden" name="step" value="second">`,
  })
}
${
  hasCodes
    ? card(
        html`<p>${methods.includes('authenticator') ? TEXTS.app : TEXTS.onlyRecovery}</p>`,
        request.form(SECOND_STEP, html`${factorCodeField(hint)}${button(TEXTS.signIn)}`),
      )
    : undefined
}
${linkLine('/sign-in', TEXTS.other)}`;
  const needs = passkeyOptions === undefined ? {} : passkeyNeeds(services);
  return { ...showAccountPage(request, { title: TEXTS.title, body, refusal }), needs };
}

/** The sign-in is over: its way back is the password. */
function voidPage(request: AccountRequest, refusal: Refusal): PageResponse {
  const body = html`${errorSummary(refusal.message)}
${linkLine('/sign-in', TEXTS.again)}`;
  const page = showAccountPage(request, { title: TEXTS.title, body, refusal });
  return { ...page, cookies: [request.services.cookies.write('pending', undefined)] };
}
