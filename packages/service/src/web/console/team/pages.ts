import { activityPage } from '#web/console/team/activity-page.ts';
import type { TeamServices } from '#web/console/team/services.ts';
import { invitationPage } from '#web/console/team/invitation-page.ts';
import { leaveForm, teamPage } from '#web/console/team/team-page.ts';
import type { PageMethods } from '#web/frame/page.ts';

/** The members of an app, and invitations to become one. */
export function consoleTeamPages(services: TeamServices): Readonly<Record<string, PageMethods>> {
  return {
    '/console/:part/team': teamPage(services),
    '/console/:part/leave': leaveForm(services),
    '/console/:part/activity': activityPage(services),
    '/invitation': invitationPage(services),
  };
}
