import type { Accounts } from '#developers/account.ts';
import type { Sessions } from '#developers/sessions/session.ts';
import type { CallerAddress } from '#http/requests/caller-address.ts';
import type { Cookies } from '#web/frame/cookies.ts';
import type { Frame } from '#web/frame/page-shell.ts';

/** Everything that the pages of accounts act on. */
export interface AccountServices {
  /** Signs in with a password, changes it, and resets it. */
  readonly accounts: Accounts;
  /** The sessions of an account, for the pages and the API alike. */
  readonly sessions: Sessions;
  /** Tells whether anybody may make an account. Otherwise operators make them. */
  readonly isRegistrationOpen: boolean;
  readonly cookies: Cookies;
  /** The frame without the word about test money, because no money moves on these pages. */
  readonly frame: Frame;
  /** Where a request comes from, behind the proxies of the settings. Tries are counted by it. */
  readonly addressOf: CallerAddress;
  /**
   * Does work that the answer does not wait for, and logs its faults. The mail of a reset is sent this way: if the answer waited for
   * it, its duration would tell whether an account has that e-mail address.
   */
  readonly inBackground: (work: Promise<void>) => void;
}
