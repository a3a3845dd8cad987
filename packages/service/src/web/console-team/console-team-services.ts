import type { Teams } from '#accounts/team.ts';
import type { ControlPlane } from '#http/control-plane/control-plane.ts';
import type { ConsoleServices } from '#web/console/console-services.ts';
import type { Cookies } from '#web/frame/cookies.ts';

/** What the pages of a team act on besides. */
export interface TeamServices extends ConsoleServices {
  readonly teams: Teams;
  readonly audit: Pick<ControlPlane['audit'], 'pageOfApp'>;
  readonly cookies: Cookies;
}
