import type { AccountServices } from '#web/credentials/account-services.ts';
import { accountPage, changePasswordForm, endSessionForm } from '#web/account/account-page.ts';
import { SECOND_STEP } from '#web/account/after-sign-in.ts';
import { authenticatorPage } from '#web/factors/authenticator-page.ts';
import { provePage } from '#web/factors/prove-page.ts';
import {
  addPasskeyForm,
  enrolmentCodeForm,
  recoveryCodesForm,
  removeAuthenticatorForm,
  removePasskeyForm,
  SECOND_FACTOR,
  secondFactorPage,
} from '#web/factors/second-factor-page.ts';
import { passkeySignInForm, secondStepPage } from '#web/account/second-step-page.ts';
import { sendVerificationForm, verifyPage } from '#web/account/verify-page.ts';
import { signInPage, signOutForm } from '#web/account/sign-in-page.ts';
import { askResetPage, useResetPage } from '#web/account/password-reset.ts';
import { registerPage } from '#web/account/register.ts';
import { ssoPages } from '#web/account/sso-pages.ts';
import type { PageMethods } from '#web/frame/page.ts';

/** The pages of people with an account: app owners and operators. */
export function accountPages(services: AccountServices): Readonly<Record<string, PageMethods>> {
  return {
    '/sign-in': signInPage(services),
    [SECOND_STEP]: secondStepPage(services),
    '/sign-in/passkey': passkeySignInForm(services),
    ...ssoPages(services),
    '/sign-out': signOutForm(services),
    ...(services.isRegistrationOpen ? { '/register': registerPage(services) } : {}),
    '/account': accountPage(services),
    '/account/sessions': endSessionForm(services),
    '/account/password': changePasswordForm(services),
    '/account/verify': verifyPage(services),
    '/account/verify/send': sendVerificationForm(services),
    '/account/prove': provePage(services),
    [SECOND_FACTOR]: secondFactorPage(services),
    [`${SECOND_FACTOR}/code`]: enrolmentCodeForm(services),
    '/account/authenticator': authenticatorPage(services),
    '/account/authenticator/remove': removeAuthenticatorForm(services),
    '/account/passkeys': addPasskeyForm(services),
    '/account/passkeys/remove': removePasskeyForm(services),
    '/account/recovery-codes': recoveryCodesForm(services),
    '/password-reset': askResetPage(services),
    '/password-reset/use': useResetPage(services),
  };
}
