import type { OperatorRules } from '#developers/operators/role.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import type { Clock } from '#kernel/time/clock.ts';
import type { Stats } from '#calls/stats/stats.ts';
import type { Frame } from '#web/frame/page-shell.ts';

/** What every page for operators acts on. A room adds what it needs besides. */
export interface OpsServices {
  /** The same functions that the routes under `/operator` call. */
  readonly operator: OperatorPlane;
  readonly rules: OperatorRules;
  readonly stats: Stats;
  /** The currency of every wallet. */
  readonly currency: string;
  readonly clock: Clock;
  readonly frame: Frame;
}
