/** What a browser keeps for these pages. None of it is ever looked at by the routes of the API. */
const LIFETIME_SECONDS = {
  session: 30 * 24 * 60 * 60,
  /** Of a person who owns wallets, see identities/session.ts. */
  person: 30 * 24 * 60 * 60,
  /** Which one-time code this browser was asked for. */
  code: 10 * 60,
  /** That it was signed in with an e-mail before, see identities/code.ts. */
  known: 180 * 24 * 60 * 60,
  /** That it has signed in before, see accounts/device.ts. */
  device: 180 * 24 * 60 * 60,
  /** The token of a reset, between the link in the mail and the new password. */
  reset: 60 * 60,
  /** Where somebody who pays goes on afterwards, see topup-step.ts. */
  next: 60 * 60,
  /** What the forms of somebody who is not signed in are bound to. Undefined: until the browser is closed. */
  form: undefined,
} as const;

export type CookieName = keyof typeof LIFETIME_SECONDS;

export interface Cookies {
  readonly read: (header: string | undefined, name: CookieName) => string | undefined;
  /** The `set-cookie` that makes a browser keep a value; undefined: forget it. */
  readonly write: (name: CookieName, value: string | undefined) => string;
}

/**
 * `isSecure`: the service is reached by https. Its cookies then have the prefix by which a browser lets no other host,
 * no subdomain and no plain http set them.
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
