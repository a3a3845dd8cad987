import { SANDBOX_OUTCOMES } from '@purser/contract/sandbox.ts';
import { type Html, html } from '#kernel/text/html.ts';
import type { SandboxWallet } from '#sandbox/wallets/sandbox-wallets.ts';
import { button, codeBlock, linkLine, section } from '#web/components/parts.ts';
import {
  amountField,
  checkboxField,
  hiddenField,
  OTHER,
  otherField,
  selectField,
  textField,
} from '#web/fields/fields.ts';
import type { AppRequest } from '#web/console/frame/app-page.ts';
import { OUTCOME_TEXTS, SANDBOX_TEXTS as TEXTS, TEST_TOKEN_TEXTS } from '#web/console/users/texts.ts';
import { amountText } from '#web/format/typed-amount.ts';
import type { Form } from '#web/forms/form.ts';
import type { AppId } from '#kernel/values/ids.ts';
import type { TestToken } from '#developers/teams/test-token.ts';
import { moment, table } from '#web/figures/figures.ts';

/** The fields as they are typed. */
export interface Typed {
  readonly user: string;
  readonly next: string;
  readonly wallet: string;
  readonly balance: string;
  readonly cap: string;
  readonly isSuspended: boolean;
}

/** The value that clears the next outcome. */
export const AS_USUAL = 'none';
const FIRST_USER = 'test-user';

export function typedOf(form: Form): Typed {
  return {
    user: form.field('user') || form.field('of'), // Each form has its own.
    next: form.field('next'),
    wallet: form.field('wallet'),
    balance: form.field('balance'),
    cap: form.field('cap'),
    isSuspended: form.field('suspended') === 'yes',
  };
}

/** The forms of a user whose link was followed start with what is set, and that of the wallet stays short after an act. */
export function typedFrom(user: string | undefined, wallet: SandboxWallet | undefined, isAfterAct: boolean): Typed {
  return {
    user: user ?? FIRST_USER,
    next: wallet?.nextOutcome ?? '',
    wallet: wallet === undefined || isAfterAct ? '' : OTHER,
    balance: wallet === undefined ? '' : amountText(wallet.balance),
    cap: wallet?.cap === undefined ? '' : amountText(wallet.cap),
    isSuspended: wallet?.isSuspended === true,
  };
}

/** The act that the page is for: one call of a user that fails, or behaves in another way. */
export function nextForm({ request, to, may, tooLow }: AppRequest, typed: Typed): Html {
  const choices = [
    ...SANDBOX_OUTCOMES.map((value) => ({ value, text: `${value}: ${OUTCOME_TEXTS[value]}` })),
    { value: AS_USUAL, text: TEXTS.asUsual },
  ].map((choice) => ({ ...choice, isChosen: choice.value === typed.next }));
  const fields = html`${userField('user', typed)}
${selectField({ name: 'next', label: TEXTS.plays, hint: TEXTS.nextWhat, choices })}
${button(TEXTS.setNext)}`;
  const body = may('sandbox') ? request.form(to('sandbox'), fields) : tooLow();
  return section({ id: 'next-call', heading: TEXTS.next, body: [body, callLink(to, typed)] });
}

/** What all calls of a user find until it is set again. */
export function walletForm({ services: { currency }, request, to, may, tooLow }: AppRequest, typed: Typed): Html {
  const choices = TEXTS.wallets.map(([value, text]) => ({ value, text, isChosen: value === typed.wallet }));
  const amounts = html`${amountField({ name: 'balance', label: TEXTS.balance(currency), text: typed.balance })}
${amountField({ name: 'cap', label: TEXTS.cap(currency), text: typed.cap })}
<p class="hint">${TEXTS.emptyFields}</p>
${checkboxField({ name: 'suspended', label: TEXTS.isSuspended, value: 'yes', isChecked: typed.isSuspended })}`;
  const fields = html`${userField('of', typed)}
${selectField({ name: 'wallet', label: TEXTS.becomes, hint: TEXTS.setWhat, choices })}
${otherField(amounts)}
${button(TEXTS.set, { kind: 'quiet' })}`;
  const body = may('sandbox') ? request.form(to('sandbox'), fields) : tooLow();
  return section({ id: 'change', heading: TEXTS.change, body: [body, callLink(to, typed)] });
}

/** Leads on to a call of the user for whom something was set. */
function callLink(to: AppRequest['to'], { user }: Typed): Html {
  return html`<p><a href="${to('playground', { mode: 'sandbox', user })}">${TEXTS.call}</a></p>
${linkLine(to('sessions', { user }), TEXTS.sessions)}`;
}

function userField(name: 'user' | 'of', { user }: Typed): Html {
  return textField({
    name,
    label: TEXTS.user,
    value: user,
    hint: TEXTS.userHint,
    lengthMax: 256,
    isRequired: true,
    autocomplete: 'off',
  });
}

/** Commands to copy that do what the page does, for automated tests. Tokens and keys are variables: no page can show them. */
export function sandboxCode(publicUrl: string, appId: AppId): readonly Html[] {
  const address = `${publicUrl}/apps/${appId}/sandbox`;
  const asTest = `-H "authorization: Bearer $PURSER_TEST_TOKEN"`;
  return [
    codeBlock({
      id: 'reset-code',
      label: TEXTS.resetCode,
      code: `curl -X POST ${address}/users/test-user/reset \\
  ${asTest} -H 'content-type: application/json' \\
  -d '{"balanceMicros": 2000000, "spendCapMicros": 1000000}'`,
    }),
    codeBlock({ id: 'list-code', label: TEXTS.listCode, code: `curl ${address} ${asTest}` }),
    codeBlock({
      id: 'call-code',
      label: TEXTS.callCode,
      code: `curl ${publicUrl}/v1/chat/completions \\
  -H "authorization: Bearer $PURSER_TEST_KEY" -H 'x-service-user: test-user' \\
  -H 'content-type: application/json' \\
  -d '{"model": "sandbox/throttled", "messages": [{"role": "user", "content": "Hello"}]}'`,
    }),
  ];
}

/** The tokens for automated tests, and the button that makes one. For owners of the app. */
export function testTokensPart({ request, to }: AppRequest, tokens: readonly TestToken[]): Html {
  const at = (epochMs: number) => html`${moment(epochMs, request.formats)}`;
  const rows = tokens.map(({ testTokenId, madeBy, createdAtMs, lastUsedAtMs }) => [
    html`${madeBy}<br><span class="soft">${at(createdAtMs)}</span>`,
    lastUsedAtMs === undefined ? TEST_TOKEN_TEXTS.never : at(lastUsedAtMs),
    request.form(
      to('sandbox'),
      html`${hiddenField('token', testTokenId)}${button(TEST_TOKEN_TEXTS.revoke, { kind: 'danger', name: 'act', value: 'revoke-token' })}`,
    ),
  ]);
  return section({
    id: 'tokens',
    heading: TEST_TOKEN_TEXTS.heading,
    body: [
      html`<p>${TEST_TOKEN_TEXTS.what}</p>`,
      request.form(to('sandbox'), button(TEST_TOKEN_TEXTS.make, { kind: 'quiet', name: 'act', value: 'make-token' })),
      tokens.length === 0
        ? undefined
        : table({
            caption: TEST_TOKEN_TEXTS.caption,
            columns: TEST_TOKEN_TEXTS.columns.map((name) => ({ name })),
            rows,
            empty: '',
          }),
    ],
  });
}

/** A token that was just made. It is shown by this answer, and never again. */
export function testTokenNotice(token: string): Html {
  return html`<div class="good" role="status"><p><strong>${TEST_TOKEN_TEXTS.made}</strong>: ${TEST_TOKEN_TEXTS.once}</p>
${codeBlock({ id: 'test-token', label: TEST_TOKEN_TEXTS.token, code: token, wraps: true })}</div>`;
}
