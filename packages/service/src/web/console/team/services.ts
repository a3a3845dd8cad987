import type { Teams } from '#developers/teams/team.ts';
import type { ControlPlane } from '#http/planes/control-plane.ts';
import type { ConsoleServices } from '#web/console/frame/services.ts';
import type { Cookies } from '#web/frame/cookies.ts';

/** What the pages of a team act on besides. */
export interface TeamServices extends ConsoleServices {
  readonly teams: Teams;
  readonly audit: Pick<ControlPlane['audit'], 'pageOfApp'>;
  readonly cookies: Cookies;
}
