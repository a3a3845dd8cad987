import type { AccountServices } from '#web/account/account-services.ts';
import { accountPage, changePasswordForm, endSessionForm } from '#web/account/account-page.ts';
import { signInPage, signOutForm } from '#web/account/owner-sign-in.ts';
import { askResetPage, useResetPage } from '#web/account/password-reset.ts';
import { registerPage } from '#web/account/register.ts';
import type { PageMethods } from '#web/frame/page.ts';

/** The pages of people with an account: app owners and operators. */
export function accountPages(services: AccountServices): Readonly<Record<string, PageMethods>> {
  return {
    '/sign-in': signInPage(services),
    '/sign-out': signOutForm(services),
    ...(services.isRegistrationOpen ? { '/register': registerPage(services) } : {}),
    '/account': accountPage(services),
    '/account/sessions': endSessionForm(services),
    '/account/password': changePasswordForm(services),
    '/password-reset': askResetPage(services),
    '/password-reset/use': useResetPage(services),
  };
}
