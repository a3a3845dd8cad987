import type { Queryable } from '#db/pool/pool.ts';

/** What the holder of an account is told by mail, in case it was not them. */
export type AccountNews =
  /** Somebody signed in with a browser, or from an address, that we do not know. */
  | { readonly kind: 'signed-in'; readonly from: string }
  | { readonly kind: 'password-changed' }
  | { readonly kind: 'authenticator-added' }
  | { readonly kind: 'authenticator-removed' }
  | { readonly kind: 'passkey-added' }
  | { readonly kind: 'passkey-removed' }
  | { readonly kind: 'recovery-codes-made' }
  | { readonly kind: 'recovery-code-used'; readonly left: number }
  /** Somebody knew the password and did not get past the second factor. */
  | { readonly kind: 'second-factor-guessed'; readonly from: string }
  | { readonly kind: 'second-factor-removed-by-operator' }
  /** An operator changed what the account may do. `role`: such as `support` or `owner`. */
  | { readonly kind: 'role-changed'; readonly role: string }
  /** From now on the account signs in through the provider, and its password is gone. */
  | { readonly kind: 'sso-linked' }
  /** An operator gave the account back to its mail address, for example because the provider is gone. */
  | { readonly kind: 'sso-unlinked' };

/** Mails news. Call it in the transaction of the act, so that neither is stored without the other. */
export type SendNews = (tx: Queryable, email: string, news: AccountNews) => Promise<void>;
