import { codePage, signInPage, signOutPage } from '#web/sign-in/email-code.ts';
import { handOverPages } from '#web/sign-in/hand-over.ts';
import { wayInPage } from '#web/sign-in/way-in.ts';
import { PASSKEY_PATHS, passkeysPage, removePasskeyForm, usePasskeyForm } from '#web/sign-in/passkeys.ts';
import { CODE, PASSKEYS, SIGN_IN, SIGN_IN_OWN, SIGN_OUT } from '#web/wallet-owner/return-path.ts';
import type { WalletOwnerMethods, WalletOwnerServices } from '#web/wallet-owner/services.ts';

/** How wallet owners sign in, by a mailed code or a passkey, and out. */
export function signInPages({ otherCells }: WalletOwnerServices): Readonly<Record<string, WalletOwnerMethods>> {
  return {
    ...(otherCells === undefined ? {} : handOverPages(otherCells)),
    [SIGN_IN]: signInPage,
    [SIGN_IN_OWN]: wayInPage,
    [CODE]: codePage,
    [SIGN_OUT]: signOutPage,
    [PASSKEYS]: passkeysPage,
    [PASSKEY_PATHS.remove]: removePasskeyForm,
    [PASSKEY_PATHS.use]: usePasskeyForm,
  };
}
