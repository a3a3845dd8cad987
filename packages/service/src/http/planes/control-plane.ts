import { type AppRole, leastRoleOf } from '@purser/contract/access.ts';
import type { FastifyRequest } from 'fastify';
import type { Accounts } from '#developers/account.ts';
import type { App, OwnApps } from '#developers/app.ts';
import type { ListenTokens } from '#developers/teams/listen-token.ts';
import type { TestTokens } from '#developers/teams/test-token.ts';
import type { Logos } from '#developers/apps/logo.ts';
import type { Sessions, SignedIn } from '#developers/sessions/session.ts';
import type { Teams } from '#developers/teams/team.ts';
import { roleTooLow } from '#developers/teams/role.ts';
import type { CallerAddress } from '#http/requests/caller-address.ts';
import type { ReadBudgets } from '#http/planes/key-budgets.ts';
import { granted, routeNameOf } from '#http/planes/planes.ts';
import { assert } from '#kernel/faults/assert.ts';
import type { Clock } from '#kernel/time/clock.ts';
import type { AppId, Mode } from '#kernel/values/ids.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { ReadSessions } from '#kernel/calls/session-page.ts';
import type { AppUsers } from '#ledger/overview/app-users.ts';
import type { AuditReader } from '#operator/look-up/audit-trail.ts';
import type { SandboxWallets } from '#sandbox/wallets/sandbox-wallets.ts';
import type { Stats } from '#calls/stats/stats.ts';
import type { TraceReader } from '#calls/traces/traces.ts';
import type { AppUsage } from '#calls/usage/report.ts';
import type { DeliveryHistory } from '#webhooks/history/history.ts';
import type { Listeners } from '#webhooks/listeners/listener.ts';
import type { Subscriptions } from '#webhooks/subscriptions/subscription.ts';
import type { SendTest } from '#webhooks/subscriptions/test-event.ts';
import type { WhenEverywhere } from '#kernel/work/when-everywhere.ts';

/** What the routes for app owners need. */
export interface ControlPlane {
  readonly accounts: Accounts;
  readonly audit: AuditReader;
  readonly sessions: Sessions;
  readonly listenTokens: ListenTokens;
  readonly testTokens: TestTokens;
  readonly apps: OwnApps;
  readonly whenEverywhere: WhenEverywhere;
  readonly teams: Teams;
  readonly logos: Logos;
  readonly readBudgets: ReadBudgets;
  /** The base of addresses in answers. */
  readonly publicUrl: string;
  readonly appUsers: AppUsers;
  readonly sandboxWallets: SandboxWallets;
  readonly appUsage: AppUsage;
  readonly traces: TraceReader;
  /** What sessions of coding agents have cost users (CP-19). */
  readonly usedSessions: ReadSessions;
  readonly stats: Stats;
  readonly subscriptions: Subscriptions;
  readonly listeners: Listeners;
  readonly deliveries: DeliveryHistory;
  readonly sendTestEvent: SendTest;
  readonly clock: Clock;
  /** The currency of every wallet. */
  readonly currency: string;
  readonly addressOf: CallerAddress;
  /**
   * Continues work that the caller need not wait for. A shutdown waits for it, and a fault of it is logged. The mail of a reset is sent this
   * way: if the answer waited for it, its duration would tell whether an account has that e-mail address.
   */
  readonly inBackground: (work: Promise<void>) => void;
  /** Whether anybody may create an account. Otherwise only operators may. */
  readonly isRegistrationOpen: boolean;
}

/** The caller of a route that is not public. A hook in `planes.ts` has checked the session before anything else. */
export function callerOf({ signedIn }: FastifyRequest): SignedIn {
  assert(signedIn !== undefined, 'only routes that are not public ask for the caller');
  return signedIn;
}

/** The caller as the audit trail names them. */
export function ownerOf({ addressOf }: Pick<ControlPlane, 'addressOf'>, request: FastifyRequest) {
  const { accountId, email } = callerOf(request).account;
  return { accountId, email, from: addressOf(request.raw) };
}

/** An app with the role of the caller in it. */
export interface OwnApp extends App {
  readonly role: AppRole;
}

/**
 * The app of a request, if the caller is a member of it and has the role that the route needs (packages/contract/src/access.ts). To everybody
 * else it looks like one that does not exist, so that nobody can find out which ids are in use (AU-06). `mode`: of the key
 * that the request is about.
 */
export async function ownApp(plane: ControlPlane, request: FastifyRequest, appId: AppId, mode?: Mode): Promise<OwnApp> {
  const { account } = callerOf(request);
  if (request.onlyApp !== undefined && request.onlyApp !== appId) granted(noSuchApp());
  const { app, role } = granted((await plane.apps.membership(account.accountId, appId)) ?? noSuchApp());
  granted(roleTooLow(role, leastRoleOf(routeNameOf(request), mode)));
  return { ...app, role };
}

/**
 * The app of a request about test users, and who acts on it: a member, or a test token of this app (SB-07). A token of another app
 * gets what a stranger gets.
 */
export async function ownTests(plane: ControlPlane, request: FastifyRequest, appId: AppId) {
  const { tester } = request;
  if (tester === undefined) {
    await ownApp(plane, request, appId);
    return { appId, by: ownerOf(plane, request) };
  }
  if (tester.appId !== appId) granted(noSuchApp());
  const { tokenId, account } = tester;
  return { appId, by: { tokenId, accountId: account.accountId, from: plane.addressOf(request.raw) } };
}

export function noSuchApp(): Refusal<'NOT_FOUND'> {
  return refuse('NOT_FOUND', 'You have no such app.');
}
