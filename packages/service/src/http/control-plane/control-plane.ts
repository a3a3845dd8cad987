import type { FastifyRequest } from 'fastify';
import type { Accounts } from '#accounts/account.ts';
import type { App, OwnApps } from '#accounts/app.ts';
import type { Logos } from '#accounts/logo.ts';
import type { Sessions, SignedIn } from '#accounts/session.ts';
import type { CallerAddress } from '#http/caller-address.ts';
import { granted } from '#http/planes.ts';
import { assert } from '#kernel/assert.ts';
import type { Clock } from '#kernel/clock.ts';
import type { AppId } from '#kernel/ids.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';
import type { SandboxWallets } from '#sandbox/sandbox-wallet.ts';
import type { AppUsage } from '#usage/report.ts';
import type { Listeners } from '#webhooks/listener.ts';
import type { Subscriptions } from '#webhooks/subscription.ts';

/** What the routes for app owners need. */
export interface ControlPlane {
  readonly accounts: Accounts;
  readonly sessions: Sessions;
  readonly apps: OwnApps;
  readonly logos: Logos;
  /** Base of the addresses that it gives. */
  readonly publicUrl: string;
  readonly sandboxWallets: SandboxWallets;
  readonly appUsage: AppUsage;
  readonly subscriptions: Subscriptions;
  readonly listeners: Listeners;
  readonly clock: Clock;
  /** Of every wallet. */
  readonly currency: string;
  readonly addressOf: CallerAddress;
  /** Does what the caller need not wait for. A fault of it is logged. */
  readonly inBackground: (work: Promise<void>) => void;
  /** Whether anybody may make an account, or operators alone. */
  readonly isRegistrationOpen: boolean;
}

/** Who calls. The session was asked for before anything else of the request was looked at. */
export function callerOf({ signedIn }: FastifyRequest): SignedIn {
  assert(signedIn !== undefined, 'a route that is not public has a session');
  return signedIn;
}

/** The app of a request, when it is the caller's own; any other answers like none (AU-06). */
export async function ownApp(plane: ControlPlane, request: FastifyRequest, appId: AppId): Promise<App> {
  const { account } = callerOf(request);
  const app = await plane.apps.find(account.accountId, appId);
  return granted(app ?? noSuchApp());
}

export function noSuchApp(): Refusal<'NOT_FOUND'> {
  return refuse('NOT_FOUND', 'There is no such app among yours.');
}
