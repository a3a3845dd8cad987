export const SSO = '/sign-in/sso';
export const SSO_CALLBACK = '/sign-in/sso/callback';
export const SSO_LINK = '/account/sso';
/** Pages of ours that may be gone on to. An address that a stranger wrote leads nowhere else. */
const THEN = /^\/(?:account|console|ops)(?:\/[\w-]+)*(?:\?[\w.~%&=+-]*)?$/;

/** The page to go on to after a proof. */
export function thenOf(then: string | null): string {
  return then !== null && THEN.test(then) ? then : '/account';
}
