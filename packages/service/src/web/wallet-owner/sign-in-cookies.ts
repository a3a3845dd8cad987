import type { WalletOwnerServices } from '#web/wallet-owner/wallet-owner-services.ts';
import type { PersonSignIn } from '#identities/session.ts';

/** What a browser keeps in which a person has just signed in. */
export function signedInCookies(
  { cookies }: Pick<WalletOwnerServices, 'cookies'>,
  { token, known }: PersonSignIn,
): readonly string[] {
  return [cookies.write('person', token), cookies.write('known', known), cookies.write('code', undefined)];
}
