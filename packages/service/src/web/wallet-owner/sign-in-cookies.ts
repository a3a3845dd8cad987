import type { PersonSignIn } from '#people/session.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/services.ts';

/** The cookies of a browser that has just signed in. The code's cookie goes: a code works once. */
export function signedInCookies(
  { cookies }: Pick<WalletOwnerServices, 'cookies'>,
  { token, known }: PersonSignIn,
): readonly string[] {
  return [cookies.write('person', token), cookies.write('known', known), cookies.write('code', undefined)];
}
