import { callPage } from '#web/console/calls/call-page.ts';
import { callsPage } from '#web/console/calls/calls-page.ts';
import type { CallsServices } from '#web/console/calls/services.ts';
import { appsPage } from '#web/console/home/apps-page.ts';
import { homePage } from '#web/console/home/home-page.ts';
import { modelsPage } from '#web/console/home/models-page.ts';
import type { ConsoleHomeServices } from '#web/console/home/services.ts';
import { logoForm, settingsPage } from '#web/console/home/settings-page.ts';
import { agentsPage } from '#web/console/keys/agents-page.ts';
import { keyPage } from '#web/console/keys/key-page.ts';
import { keysPage } from '#web/console/keys/keys-page.ts';
import type { ConsoleKeysServices } from '#web/console/keys/services.ts';
import { playgroundPage } from '#web/console/playground/playground-page.ts';
import type { PlaygroundServices } from '#web/console/playground/services.ts';
import { activityPage } from '#web/console/team/activity-page.ts';
import { invitationPage } from '#web/console/team/invitation-page.ts';
import type { TeamServices } from '#web/console/team/services.ts';
import { leaveForm, teamPage } from '#web/console/team/team-page.ts';
import { sandboxPage } from '#web/console/users/sandbox-page.ts';
import type { UsersServices } from '#web/console/users/services.ts';
import { sessionsPage } from '#web/console/users/sessions-page.ts';
import { userPage } from '#web/console/users/user-page.ts';
import { usersPage } from '#web/console/users/users-page.ts';
import { deliveryPage } from '#web/console/webhooks/delivery-page.ts';
import type { WebhooksServices } from '#web/console/webhooks/services.ts';
import { webhooksPage } from '#web/console/webhooks/webhooks-page.ts';
import type { PageMethods } from '#web/frame/page.ts';

/** What the pages of the console act on. */
export type ConsoleServices = ConsoleHomeServices &
  ConsoleKeysServices &
  PlaygroundServices &
  UsersServices &
  CallsServices &
  WebhooksServices &
  TeamServices;

/** The pages of owners, by their addresses. */
export function consolePages(services: ConsoleServices): Readonly<Record<string, PageMethods>> {
  return {
    '/console': appsPage(services),
    '/console/:part': homePage(services),
    '/console/:part/logo': logoForm(services),
    '/console/:part/models': modelsPage(services),
    '/console/:part/settings': settingsPage(services),
    '/console/:part/keys': keysPage(services),
    '/console/:part/key': keyPage(services),
    '/console/:part/agents': agentsPage(services),
    '/console/:part/playground': playgroundPage(services),
    '/console/:part/users': usersPage(services),
    '/console/:part/user': userPage(services),
    '/console/:part/sessions': sessionsPage(services),
    '/console/:part/sandbox': sandboxPage(services),
    '/console/:part/calls': callsPage(services),
    '/console/:part/call': callPage(services),
    '/console/:part/webhooks': webhooksPage(services),
    '/console/:part/delivery': deliveryPage(services),
    '/console/:part/team': teamPage(services),
    '/console/:part/leave': leaveForm(services),
    '/console/:part/activity': activityPage(services),
    '/invitation': invitationPage(services),
  };
}
