import type { Person } from '#people/session.ts';
import type { PageMethods } from '#web/frame/page.ts';
import { codePage, signInPage, signOutPage } from '#web/sign-in/email-code.ts';
import { handOverPages } from '#web/sign-in/hand-over.ts';
import { PASSKEY_PATHS } from '#web/sign-in/passkey-offer.ts';
import { wayInPage } from '#web/sign-in/way-in.ts';
import { passkeysPage, removePasskeyForm, usePasskeyForm } from '#web/sign-in/passkeys.ts';
import { CODE, PASSKEYS, SIGN_IN, SIGN_IN_OWN, SIGN_OUT } from '#web/wallet-owner/return-path.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/services.ts';

/** How wallet owners sign in, by a mailed code or a passkey, and out. */
export function signInPages(services: WalletOwnerServices): Readonly<Record<string, PageMethods<Person>>> {
  const { otherCells } = services;
  return {
    ...(otherCells === undefined ? {} : handOverPages(services, otherCells)),
    [SIGN_IN]: signInPage(services),
    [SIGN_IN_OWN]: wayInPage(services),
    [CODE]: codePage(services),
    [SIGN_OUT]: signOutPage(services),
    [PASSKEYS]: passkeysPage(services),
    [PASSKEY_PATHS.remove]: removePasskeyForm(services),
    [PASSKEY_PATHS.use]: usePasskeyForm(services),
  };
}
