/** What a browser keeps for these pages, and for how long. The routes of the API look at none of it, so no other site can use it there. */
const LIFETIME_SECONDS = {
  session: 30 * 24 * 60 * 60,
  /** The session of a wallet owner, see `people/session.ts`. */
  person: 30 * 24 * 60 * 60,
  /** Names the one-time code that this browser asked for. The code works in no other. */
  code: 10 * 60,
  /** Names the browser that has gone to another cell to be handed over, see `people/hand-over.ts`. It works in no other. */
  arrival: 2 * 60,
  /** Marks a browser that has signed in with an e-mail address before, see `people/email-code.ts`. */
  known: 180 * 24 * 60 * 60,
  /** Marks a browser that has signed in to an account before, see `developers/sessions/device.ts`. */
  device: 180 * 24 * 60 * 60,
  /** The token of a password reset, from the link in the mail until the new password is set. */
  reset: 60 * 60,
  /** A sign-in whose password was right, and that waits for the second factor. No session. */
  pending: 10 * 60,
  /** A sign-in that has gone to the OpenID Connect provider. It works in this browser alone, see `developers/sso/ticket.ts`. */
  sso: 10 * 60,
  /** The token of the mail that verifies an e-mail, from its link until the button of the page is pressed. */
  verify: 60 * 60,
  /** The token of an invitation to a team, from its link until the button of the page is pressed. */
  invitation: 60 * 60,
  /** The page to go on to after paying, see `web/topup/topup-step.ts`. */
  next: 60 * 60,
  /** Binds the forms of somebody who is not signed in. If it is undefined, the cookie lasts until the browser is closed. */
  form: undefined,
} as const;

export type CookieName = keyof typeof LIFETIME_SECONDS;

/** Reads and writes the cookies of this service, by their short names. */
export interface Cookies {
  readonly read: (header: string | undefined, name: CookieName) => string | undefined;
  /** The `set-cookie` with which a browser keeps a value, or forgets it if `value` is undefined. */
  readonly write: (name: CookieName, value: string | undefined) => string;
}

/**
 * The parameter `isSecure` says that people reach the service by https. Cookies then have the prefix `__Host-`:
 * browsers let no subdomain and no plain http set such a cookie, so nobody can plant a session of theirs. They have
 * `SameSite=Lax`, not `Strict`, because people come from apps by links.
 */
export function createCookies(isSecure: boolean): Cookies {
  const nameOf = (name: CookieName): string => `${isSecure ? '__Host-' : ''}purser-${name}`;
  return {
    read: (header = '', name) => {
      const start = `${nameOf(name)}=`;
      const found = header.split(/; */).find((pair) => pair.startsWith(start));
      return found?.slice(start.length);
    },
    write: (name, value) => {
      const seconds = value === undefined ? 0 : LIFETIME_SECONDS[name];
      const age = seconds === undefined ? '' : `; Max-Age=${seconds}`;
      return `${nameOf(name)}=${value ?? ''}; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}${age}`;
    },
  };
}
