import type { Changer } from '#developers/factors/change.ts';
import type { SignedIn } from '#developers/sessions/session.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import type { AccountMethods, AccountRequest, AccountServices } from '#web/credentials/account-services.ts';
import { newPasskeyForm, passkeyNeeds } from '#web/credentials/credential-fields.ts';
import { provePath } from '#web/factors/prove-page.ts';
import { ENROLMENT_TEXTS as CODE_TEXTS, SECOND_FACTOR_TEXTS as TEXTS } from '#web/credentials/texts.ts';
import { moment } from '#web/figures/figures.ts';
import { confirmation, errorSummary, successNotice } from '#web/components/notices.ts';
import { button, buttonLink, card, linkLine, list, section } from '#web/components/parts.ts';
import { hiddenField, textField } from '#web/fields/fields.ts';
import { type PageRequest, type PageResponse, redirectTo } from '#web/frame/page.ts';
import { showOwnerPage } from '#web/frame/owner-page.ts';

export const SECOND_FACTOR = '/account/second-factor';
const PASSKEYS = '/account/passkeys';

/** Shows at `/account/second-factor` the authenticator app, passkeys and recovery codes of the account (CP-06). */
export const secondFactorPage: AccountMethods = {
  GET: async (request) => {
    if (request.signedIn === undefined) return redirectTo('/sign-in');
    if (request.signedIn.account.isSso) return redirectTo('/account');
    return showFactors(request, request.signedIn);
  },
};

/**
 * Adds a passkey at `/account/passkeys`. The credential is JSON that the script put into the field; all of it is
 * checked.
 */
export const addPasskeyForm = changeForm(async (factors, by, form) => {
  const added = await factors.addPasskey(by, form.field('credential'), form.field('enrolment'));
  return added instanceof Refusal ? added : (added.recoveryCodes ?? 'passkey-added');
});

/** Removes a passkey at `/account/passkeys/remove`. One that is not there has been removed, too. */
export const removePasskeyForm = changeForm(async (factors, by, form) => {
  const refused = await factors.removePasskey(by, form.field('passkey'));
  return refused === undefined || refused.code === 'NOT_FOUND' ? 'passkey-removed' : refused;
});

/** Removes the authenticator app at `/account/authenticator/remove`. */
export const removeAuthenticatorForm = changeForm(async (factors, by) => {
  const refused = await factors.removeAuthenticator(by);
  return refused === undefined || refused.code === 'NOT_FOUND' ? 'authenticator-removed' : refused;
});

/** Mails an operator the code for their first second factor, at `/account/second-factor/code`. */
export const enrolmentCodeForm = changeForm(
  async (factors, by) => (await factors.sendEnrolmentCode(by)) ?? 'code-mailed',
);

/** The field for the code that an operator needs for their first second factor. */
export function enrolmentField({ services }: AccountRequest, { account }: SignedIn): Html | undefined {
  if (!services.accounts.secondFactors.isCodeNeeded(account)) return undefined;
  return textField({ name: 'enrolment', label: CODE_TEXTS.label, hint: CODE_TEXTS.hint, autocomplete: 'off' });
}

/** Makes new recovery codes at `/account/recovery-codes` and shows them, this once. */
export const recoveryCodesForm = changeForm(async (factors, by) => {
  const made = await factors.newRecoveryCodes(by);
  return made instanceof Refusal ? made : made.recoveryCodes;
});

type Form = Parameters<NonNullable<AccountMethods['POST']>>[1];
type Factors = AccountServices['accounts']['secondFactors'];

/**
 * A form that changes the second factor. `change` returns the notice to show, or recovery codes, which are on no page but the answer.
 * Without a fresh proof it leads to the page that asks for one.
 */
function changeForm(
  change: (factors: Factors, by: Changer, form: Form) => Promise<string | readonly string[] | Refusal>,
): AccountMethods {
  return {
    GET: () => redirectTo(SECOND_FACTOR),
    POST: async (request, form) => {
      const { services, signedIn } = request;
      if (signedIn === undefined) return redirectTo('/sign-in');
      const from = services.addressOf(request.exchange.request);
      const done = await change(services.accounts.secondFactors, { signedIn, from }, form);
      if (typeof done === 'string') return redirectTo(`${SECOND_FACTOR}?done=${done}`);
      if (!(done instanceof Refusal)) return showCodes(request, done);
      if (done.code === 'FORBIDDEN') return redirectTo(provePath(SECOND_FACTOR));
      return showFactors(request, signedIn, done);
    },
  };
}

/** The recovery codes. No address leads here: they are in this answer only. */
export function showCodes(request: AccountRequest, codes: readonly string[]): PageResponse {
  const body = card(
    html`<p>${TEXTS.codesWhat}</p>`,
    list(codes.map((code) => html`<code>${code}</code>`)),
    html`<p class="soft">${TEXTS.codesOnce}</p>`,
    buttonLink(SECOND_FACTOR, TEXTS.codesKept),
  );
  return showOwnerPage(request, { title: TEXTS.codesTitle, body, isNarrow: true });
}

async function showFactors(request: AccountRequest, signedIn: SignedIn, refusal?: Refusal): Promise<PageResponse> {
  const { services } = request;
  const { accounts } = services;
  const { accountId } = signedIn.account;
  const state = await accounts.secondFactors.state(accountId);
  const isOn = state.authenticator !== undefined || state.passkeys.length > 0;
  const { isProved } = signedIn;
  const body = html`${errorSummary(refusal?.message)}
${successNotice(TEXTS.done.get(request.query.get('done')))}
<p>${isOn ? TEXTS.on : TEXTS.off}</p>
${isProved ? undefined : buttonLink(provePath(SECOND_FACTOR), TEXTS.proveFirst)}
${isProved && accounts.secondFactors.isCodeNeeded(signedIn.account) ? codeFirst(request) : undefined}
${section({
  id: 'passkeys',
  heading: TEXTS.passkeys,
  body: [
    html`<p>${TEXTS.passkeysWhat}</p>`,
    state.passkeys.length === 0 ? undefined : list(state.passkeys.map((one) => passkeyItem(request, one, isProved))),
    isProved
      ? newPasskeyForm(
          request,
          await accounts.secondFactors.passkeyOptions({ signedIn, from: '' }),
          enrolmentField(request, signedIn),
        )
      : undefined,
  ],
})}
${section({ id: 'authenticator', heading: TEXTS.authenticator, body: authenticatorPart(request, state.authenticator, isProved) })}
${isOn ? section({ id: 'codes', heading: TEXTS.codes, body: codesPart(request, state.recoveryCodesLeft, isProved) }) : undefined}
${linkLine('/account', TEXTS.back)}`;
  const needs = isProved ? passkeyNeeds(services) : {};
  return showOwnerPage(request, { title: TEXTS.title, body, refusal, isNarrow: true, ...needs });
}

function codeFirst(request: PageRequest): Html {
  const form = request.form(`${SECOND_FACTOR}/code`, button(CODE_TEXTS.mail, { kind: 'quiet' }));
  return section({ id: 'code', heading: CODE_TEXTS.heading, body: [html`<p>${CODE_TEXTS.what}</p>`, form] });
}

function authenticatorPart(
  request: PageRequest,
  authenticator: { readonly createdAtMs: number; readonly lastUsedAtMs: number | undefined } | undefined,
  isProved: boolean,
): readonly (Html | undefined)[] {
  if (authenticator === undefined) {
    return [
      html`<p>${TEXTS.authenticatorWhat}</p>`,
      isProved ? buttonLink('/account/authenticator', TEXTS.addAuthenticator, 'quiet') : undefined,
    ];
  }
  return [
    html`<p>${usesOf(request, authenticator)}</p>`,
    isProved
      ? confirmation({
          act: TEXTS.removeAuthenticator,
          what: TEXTS.removeSure,
          form: request.form('/account/authenticator/remove', button(TEXTS.remove, { kind: 'danger' })),
        })
      : undefined,
  ];
}

function passkeyItem(
  request: PageRequest,
  passkey: {
    readonly credentialId: string;
    readonly createdAtMs: number;
    readonly lastUsedAtMs: number | undefined;
  },
  isProved: boolean,
): Html {
  const label = TEXTS.removeThat(request.formats.moment(passkey.createdAtMs));
  const fields = html`${hiddenField('passkey', passkey.credentialId)}
${button(TEXTS.remove, { kind: 'quiet', label })}`;
  return html`<span>${usesOf(request, passkey)}</span>
${isProved ? request.form(`${PASSKEYS}/remove`, fields) : undefined}`;
}

function usesOf(
  { formats }: PageRequest,
  { createdAtMs, lastUsedAtMs }: { readonly createdAtMs: number; readonly lastUsedAtMs: number | undefined },
): Html {
  const used = lastUsedAtMs === undefined ? TEXTS.neverUsed : html`${TEXTS.lastUsed} ${moment(lastUsedAtMs, formats)}`;
  return html`${TEXTS.addedAt} ${moment(createdAtMs, formats)}<br><span class="soft">${used}</span>`;
}

function codesPart(request: PageRequest, left: number, isProved: boolean): readonly (Html | undefined)[] {
  return [
    html`<p>${TEXTS.codesLeft(left)}</p>`,
    isProved
      ? confirmation({
          act: TEXTS.newCodes,
          what: TEXTS.newCodesSure,
          form: request.form('/account/recovery-codes', button(TEXTS.makeCodes, { kind: 'danger' })),
        })
      : undefined,
  ];
}
