import type { PlaygroundKeys } from '#developers/keys/playground-keys.ts';
import type { Catalogue } from '#catalogue/catalogue.ts';
import type { OwnCalls } from '#http/listener/own-calls.ts';
import type { ControlPlane } from '#http/planes/control-plane.ts';
import { callPage } from '#web/console/calls/call-page.ts';
import { callsPage } from '#web/console/calls/calls-page.ts';
import { appsPage } from '#web/console/home/apps-page.ts';
import type { ConsoleServices } from '#web/console/frame/services.ts';
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
import { userPage } from '#web/console/users/user-page.ts';
import { usersPage } from '#web/console/users/users-page.ts';
import { deliveryPage } from '#web/console/webhooks/delivery-page.ts';
import { webhooksPage } from '#web/console/webhooks/webhooks-page.ts';
import type { Cookies } from '#web/frame/cookies.ts';
import type { PageMethods } from '#web/frame/page.ts';
import type { Frame } from '#web/frame/page-shell.ts';

interface ConsoleParts {
  /** What the routes of app owners act on. */
  readonly control: ControlPlane;
  readonly catalogue: Pick<Catalogue, 'find' | 'list'>;
  readonly playgroundKeys: PlaygroundKeys;
  readonly ownCalls: OwnCalls;
  readonly cookies: Cookies;
  readonly frame: Frame;
}

/** The pages of owners, by their addresses, each with what its room acts on. */
export function consolePages(parts: ConsoleParts): Readonly<Record<string, PageMethods>> {
  const { control, catalogue, playgroundKeys, ownCalls, cookies, frame } = parts;
  const { apps, teams, logos, audit, listenTokens, testTokens, sandboxWallets, stats, traces, appUsage } = control;
  const { appUsers, usedSessions, readBudgets, subscriptions, deliveries, sendTestEvent, whenEverywhere } = control;
  const { publicUrl, currency, clock, addressOf } = control;
  const all: ConsoleServices = { apps, publicUrl, currency, clock, addressOf, frame };
  const home = { ...all, catalogue, stats, logos, deliveries };
  const keys = { ...all, catalogue, stats, readBudgets, whenEverywhere };
  const playground = { ...all, catalogue, playgroundKeys, ownCalls, appUsage };
  const users = { ...all, appUsers, sandboxWallets, testTokens, traces, usedSessions };
  const calls = { ...all, traces, appUsage };
  const webhooks = { ...all, listenTokens, subscriptions, deliveries, sendTestEvent };
  const team = { ...all, teams, audit, cookies };
  return {
    '/console': appsPage(home),
    '/console/:part': homePage(home),
    '/console/:part/logo': logoForm(home),
    '/console/:part/models': modelsPage(home),
    '/console/:part/settings': settingsPage(home),
    '/console/:part/keys': keysPage(keys),
    '/console/:part/key': keyPage(keys),
    '/console/:part/agents': agentsPage(keys),
    '/console/:part/playground': playgroundPage(playground),
    '/console/:part/users': usersPage(users),
    '/console/:part/user': userPage(users),
    '/console/:part/sessions': sessionsPage(users),
    '/console/:part/sandbox': sandboxPage(users),
    '/console/:part/calls': callsPage(calls),
    '/console/:part/call': callPage(calls),
    '/console/:part/webhooks': webhooksPage(webhooks),
    '/console/:part/delivery': deliveryPage(webhooks),
    '/console/:part/team': teamPage(team),
    '/console/:part/leave': leaveForm(team),
    '/console/:part/activity': activityPage(team),
    '/invitation': invitationPage(team),
  };
}
