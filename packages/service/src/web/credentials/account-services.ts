import type { ControlPlane } from '#http/planes/control-plane.ts';
import type { Cookies } from '#web/frame/cookies.ts';
import type { Frame } from '#web/frame/page-shell.ts';

/** Everything that the pages of accounts act on. */
export interface AccountServices
  extends Pick<ControlPlane, 'accounts' | 'sessions' | 'isRegistrationOpen' | 'addressOf' | 'inBackground'> {
  readonly cookies: Cookies;
  /** The frame without the word about test money, because no money moves on these pages. */
  readonly frame: Frame;
}
