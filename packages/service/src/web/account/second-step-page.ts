import { type Html, html } from '#kernel/text/html.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import type { AccountServices } from '#web/credentials/account-services.ts';
import { goOn, placeOf, SECOND_STEP } from '#web/account/after-sign-in.ts';
import { factorCodeField } from '#web/credentials/code-fields.ts';
import { passkeyForm, passkeyNeeds } from '#web/credentials/passkey-form.ts';
import { SECOND_STEP_TEXTS as TEXTS } from '#web/credentials/texts.ts';
import { button } from '#web/components/button.ts';
import { linkLine } from '#web/components/navigation.ts';
import { errorSummary } from '#web/components/notices.ts';
import { card } from '#web/components/section.ts';
import type { PageMethods, PageRequest, PageResponse } from '#web/frame/page.ts';
import { pageOf } from '#web/frame/page-shell.ts';
import { redirectTo, refusedBy } from '#web/frame/responses.ts';

/** Makes the page `/sign-in/second-factor`, which is the second step of a sign-in. */
export function secondStepPage(services: AccountServices): PageMethods {
  return {
    GET: async (request) => {
      if (request.signedIn !== undefined) return redirectTo('/console');
      return (await showStep(services, request)) ?? redirectTo('/sign-in');
    },
    POST: (request, form) => finish(services, request, { code: form.field('code') }),
  };
}

/** Takes what a passkey signed at `/sign-in/passkey`, as the second step or as the only one. */
export function passkeySignInForm(services: AccountServices): PageMethods {
  return {
    GET: () => redirectTo('/sign-in'),
    POST: async (request, form) => {
      const credential = form.field('credential');
      if (form.field('step') === 'second') return finish(services, request, { credential });
      const signedIn = await services.accounts.signInByPasskey(credential, placeOf(services, request));
      return signedIn instanceof Refusal ? voidPage(services, signedIn) : goOn(services, request, signedIn);
    },
  };
}

async function finish(
  services: AccountServices,
  request: PageRequest,
  answer: { readonly code: string } | { readonly credential: string },
): Promise<PageResponse> {
  const pendingToken = request.cookie('pending') ?? '';
  const place = placeOf(services, request);
  const signedIn = await services.accounts.finishSignIn({ ...answer, pendingToken, place });
  if (!(signedIn instanceof Refusal)) return goOn(services, request, signedIn);
  return (await showStep(services, request, signedIn)) ?? voidPage(services, signedIn);
}

/** The form of the second step. Undefined when no sign-in waits for it. */
async function showStep(
  services: AccountServices,
  request: PageRequest,
  refusal?: Refusal,
): Promise<PageResponse | undefined> {
  const { accounts, frame } = services;
  const pending = await accounts.pending(request.cookie('pending') ?? '');
  if (pending === undefined) return undefined;
  const { methods, passkeyOptions } = pending;
  const hasCodes = methods.some((method) => method !== 'passkey');
  const hint = methods.includes('authenticator') && methods.includes('recovery_code') ? TEXTS.lost : undefined;
  const body = html`${errorSummary(refusal?.message)}
${
  passkeyOptions &&
  passkeyForm(services, request, {
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
  const page = pageOf({ title: TEXTS.title, body, frame, isError: refusal !== undefined });
  const needs = passkeyOptions === undefined ? {} : passkeyNeeds(services);
  return refusal === undefined ? { status: 200, page, needs } : { ...refusedBy(refusal, page), needs };
}

/** The sign-in is over: its way back is the password. */
function voidPage({ frame, cookies }: AccountServices, refusal: Refusal): PageResponse {
  const body: Html = html`${errorSummary(refusal.message)}
${linkLine('/sign-in', TEXTS.again)}`;
  const page = pageOf({ title: TEXTS.title, body, frame, isError: true });
  return { ...refusedBy(refusal, page), cookies: [cookies.write('pending', undefined)] };
}
