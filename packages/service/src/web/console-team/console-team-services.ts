import type { Teams } from '#accounts/team.ts';
import type { AuditReader } from '#operator/audit.ts';
import type { ConsoleServices } from '#web/console/console-services.ts';
import type { Cookies } from '#web/frame/cookies.ts';

/** What the pages of a team act on besides. */
export interface TeamServices extends ConsoleServices {
  readonly teams: Teams;
  readonly audit: Pick<AuditReader, 'pageOfApp'>;
  readonly cookies: Cookies;
}
