import type { Developers } from '#app/others/developers.ts';
import type { Webhooks } from '#app/compose/webhooks.ts';
import type { Ground } from '#app/process/ground.ts';
import type { Reports } from '#app/reports/reports.ts';
import { type InFlight } from '#http/listener/closing.ts';
import type { ControlPlane } from '#http/planes/control-plane.ts';
import { createCallerAddress } from '#http/requests/caller-address.ts';
import { describeFault } from '#kernel/log.ts';
import type { WhenEverywhere } from '#kernel/work/when-everywhere.ts';
import { createAuditReader } from '#operator/look-up/audit-trail.ts';
import { createSandboxWallets } from '#sandbox/wallets/sandbox-wallets.ts';

interface ControlNeeds {
  readonly developers: Developers;
  readonly reports: Reports;
  readonly webhooks: Webhooks;
  readonly changes: { readonly whenEverywhere: WhenEverywhere };
  readonly inFlight: InFlight;
}

/** Opens what app owners act on. */
export function openControlPlane(ground: Ground, needs: ControlNeeds): ControlPlane {
  const { config, pools, clock, log } = ground;
  const { developers, reports, webhooks, changes, inFlight } = needs;
  return {
    audit: createAuditReader(pools.planes),
    accounts: developers.accounts,
    sessions: developers.sessions,
    apps: developers.apps,
    teams: developers.teams,
    logos: developers.logos,
    listenTokens: developers.listenTokens,
    testTokens: developers.testTokens,
    sandboxWallets: createSandboxWallets({ pool: pools.sandbox, trail: pools.planes, grant: config.sandboxGrant }),
    appUsage: reports.appUsage,
    appUsers: reports.appUsers,
    usedSessions: reports.usedSessions,
    stats: reports.stats,
    traces: reports.traces,
    readBudgets: reports.readBudgets,
    subscriptions: webhooks.subscriptions,
    listeners: webhooks.listeners,
    deliveries: webhooks.deliveries,
    sendTestEvent: webhooks.sendTestEvent,
    whenEverywhere: changes.whenEverywhere,
    publicUrl: config.publicUrl,
    clock,
    currency: config.currency,
    addressOf: createCallerAddress(config.proxyHops, log),
    inBackground: (work) => {
      inFlight.follow(work).catch((fault: unknown) => {
        log.error({ fault: describeFault(fault) }, 'work in the background failed');
      });
    },
    isRegistrationOpen: config.registration === 'open',
  };
}
