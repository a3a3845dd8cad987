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
import { registerPage, signInPage, signOutForm } from '#web/account/sign-in-page.ts';
import { askResetPage, useResetPage } from '#web/account/password-reset.ts';
import { ssoPages } from '#web/account/sso-pages.ts';
import { actingOn, type PageMethods } from '#web/frame/page.ts';

/** The pages of people with an account: app owners and operators. */
export function accountPages(services: AccountServices): Readonly<Record<string, PageMethods>> {
  return actingOn(services, {
    '/sign-in': signInPage,
    [SECOND_STEP]: secondStepPage,
    '/sign-in/passkey': passkeySignInForm,
    ...ssoPages(services),
    '/sign-out': signOutForm,
    ...(services.isRegistrationOpen ? { '/register': registerPage } : {}),
    '/account': accountPage,
    '/account/sessions': endSessionForm,
    '/account/password': changePasswordForm,
    '/account/verify': verifyPage,
    '/account/verify/send': sendVerificationForm,
    '/account/prove': provePage,
    [SECOND_FACTOR]: secondFactorPage,
    [`${SECOND_FACTOR}/code`]: enrolmentCodeForm,
    '/account/authenticator': authenticatorPage,
    '/account/authenticator/remove': removeAuthenticatorForm,
    '/account/passkeys': addPasskeyForm,
    '/account/passkeys/remove': removePasskeyForm,
    '/account/recovery-codes': recoveryCodesForm,
    '/password-reset': askResetPage,
    '/password-reset/use': useResetPage,
  });
}
