import type { OwnApps } from '#developers/app.ts';
import type { CallerAddress } from '#http/requests/caller-address.ts';
import type { Clock } from '#kernel/time/clock.ts';
import type { Frame } from '#web/frame/page-shell.ts';

/** What every page of the console acts on. A room adds what it needs besides. */
export interface ConsoleServices {
  readonly apps: OwnApps;
  /** Where apps and browsers reach this service, without a slash at the end. */
  readonly publicUrl: string;
  /** The currency of every wallet. */
  readonly currency: string;
  readonly clock: Clock;
  /** Where a request comes from, for the audit trail. */
  readonly addressOf: CallerAddress;
  readonly frame: Frame;
}
