import type { Accounts } from '#accounts/account.ts';
import type { Sessions } from '#accounts/session.ts';
import type { CallerAddress } from '#http/caller-address.ts';
import type { Cookies } from '#web/frame/cookies.ts';
import type { Frame } from '#web/frame/page-shell.ts';

/** What the pages of an account need. */
export interface AccountServices {
  readonly accounts: Accounts;
  readonly sessions: Sessions;
  readonly cookies: Cookies;
  readonly frame: Frame;
  readonly addressOf: CallerAddress;
  /** Does what a visitor need not wait for. A fault of it is logged. */
  readonly inBackground: (work: Promise<void>) => void;
}
