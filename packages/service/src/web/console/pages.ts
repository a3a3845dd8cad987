import { callPage } from '#web/console/calls/call-page.ts';
import { callsPage } from '#web/console/calls/calls-page.ts';
import { appsPage } from '#web/console/home/apps-page.ts';
import type { ConsoleServices } from '#web/console/frame/app-page.ts';
import { homePage } from '#web/console/home/home-page.ts';
import { modelsPage } from '#web/console/home/models-page.ts';
import { logoForm, settingsPage } from '#web/console/home/settings-page.ts';
import { agentsPage } from '#web/console/keys/agents-page.ts';
import { keyPage } from '#web/console/keys/key-page.ts';
import { keysPage } from '#web/console/keys/keys-page.ts';
import { playgroundPage } from '#web/console/playground/playground-page.ts';
import { activityPage } from '#web/console/team/activity-page.ts';
import { invitationPage } from '#web/console/team/invitation-page.ts';
import { leaveForm, teamPage } from '#web/console/team/team-page.ts';
import { sandboxPage } from '#web/console/users/sandbox-page.ts';
import { sessionsPage } from '#web/console/users/sessions-page.ts';
import { userPage, usersPage } from '#web/console/users/users-page.ts';
import { deliveryPage } from '#web/console/webhooks/delivery-page.ts';
import { webhooksPage } from '#web/console/webhooks/webhooks-page.ts';
import { actingOn, type PageMethods } from '#web/frame/page.ts';

/** The pages of owners, by their addresses. */
export function consolePages(services: ConsoleServices): Readonly<Record<string, PageMethods>> {
  return actingOn(services, {
    '/console': appsPage,
    '/console/:part': homePage,
    '/console/:part/logo': logoForm,
    '/console/:part/models': modelsPage,
    '/console/:part/settings': settingsPage,
    '/console/:part/keys': keysPage,
    '/console/:part/key': keyPage,
    '/console/:part/agents': agentsPage,
    '/console/:part/playground': playgroundPage,
    '/console/:part/users': usersPage,
    '/console/:part/user': userPage,
    '/console/:part/sessions': sessionsPage,
    '/console/:part/sandbox': sandboxPage,
    '/console/:part/calls': callsPage,
    '/console/:part/call': callPage,
    '/console/:part/webhooks': webhooksPage,
    '/console/:part/delivery': deliveryPage,
    '/console/:part/team': teamPage,
    '/console/:part/leave': leaveForm,
    '/console/:part/activity': activityPage,
    '/invitation': invitationPage,
  });
}
