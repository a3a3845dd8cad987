import type { Accounts } from '#accounts/account.ts';
import type { Sessions } from '#accounts/session.ts';
import type { CallerAddress } from '#http/caller-address.ts';
import type { Cookies } from '#web/frame/cookies.ts';
import type { Frame } from '#web/frame/page-shell.ts';

/** Everything that the pages of accounts act on. */
export interface AccountServices {
  /** Signing in with a password, changing it, and resetting it. */
  readonly accounts: Accounts;
  /** The sessions of an account, for the pages and the API alike. */
  readonly sessions: Sessions;
  /** Anybody may make an account. Otherwise operators make them. */
  readonly isRegistrationOpen: boolean;
  readonly cookies: Cookies;
  /** Without the word about test money: no money moves on these pages. */
  readonly frame: Frame;
  /** Where a request comes from, behind the proxies of the settings. Tries are counted by it. */
  readonly addressOf: CallerAddress;
  /**
   * Does work that the answer does not wait for, and logs its faults. The mail of a reset is sent this way: if the answer waited for
   * it, its duration would tell whether an account has that e-mail address.
   */
  readonly inBackground: (work: Promise<void>) => void;
}
