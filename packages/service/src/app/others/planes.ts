import type { OperatorRules } from '#developers/operators/role.ts';
import { addOperatorRoutes } from '#app/others/operator-plane.ts';
import type { Ground } from '#app/process/ground.ts';
import { addAccountRoutes, addSessionRoutes } from '#http/control-plane/account/accounts.ts';
import { addSecondFactorRoutes } from '#http/control-plane/account/second-factor.ts';
import { addTrailRoutes } from '#http/control-plane/account/trail.ts';
import { addAppRoutes } from '#http/control-plane/apps/apps.ts';
import { addKeyRoutes } from '#http/control-plane/apps/keys.ts';
import { addLogoRoutes } from '#http/control-plane/apps/logos.ts';
import { addTeamRoutes } from '#http/control-plane/apps/team.ts';
import { addSandboxRoutes } from '#http/control-plane/sandbox/sandbox.ts';
import { addStatsRoutes } from '#http/control-plane/usage/stats.ts';
import { addUsageRoutes } from '#http/control-plane/usage/usage.ts';
import { addUserRoutes } from '#http/control-plane/usage/users.ts';
import { addListenTokenRoutes } from '#http/control-plane/webhooks/listen-tokens.ts';
import { addListenerRoutes } from '#http/control-plane/webhooks/listeners.ts';
import { addWebhookRoutes } from '#http/control-plane/webhooks/webhook.ts';
import { followHandlers, type InFlight } from '#http/listener/closing.ts';
import type { ControlPlane } from '#http/planes/control-plane.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { createPlanes, type Plane, type PlanePaces, type Planes } from '#http/planes/planes.ts';
import { addStatusRoutes } from '#http/service/status.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import { createPace, type PaceRate } from '#limits/pace.ts';
import { createMailbox } from '#mail/mailbox.ts';
import type { ServiceStatus } from '#status/status.ts';
import { addDevelopmentPages } from '#web/development/pages.ts';
import { createNotFound } from '#web/serving/not-found.ts';
import { createPagePace, type PagePace } from '#web/serving/page-pace.ts';

interface PlaneNeeds {
  readonly control: ControlPlane;
  readonly operator: OperatorPlane;
  readonly rules: OperatorRules;
  readonly readStatus: (() => Promise<ServiceStatus>) | undefined;
  readonly paces: Paces;
  readonly inFlight: InFlight;
}

/** How fast requests and pages may come. */
interface Paces {
  readonly planes: PlanePaces;
  readonly pages: PagePace;
}

/** People of one office share a network address, so one address may send as much as this number of accounts. */
const ADDRESS_SHARE = 5;

/** Shares of an account's pace that are for pages, which take milliseconds to make. Nobody reads five of them a second. */
const PAGE_SHARES = { addresses: 1, strangers: 0.5, holders: 0.25 };

export function createPaces({ ratePerMinute, rateBurst }: PaceRate): Paces {
  const times = (share: number) =>
    createPace({ ratePerMinute: ratePerMinute * share, rateBurst: Math.ceil(rateBurst * share) }, steadyClock);
  const addresses = times(ADDRESS_SHARE);
  return {
    planes: { accounts: times(1), addresses },
    pages: createPagePace({
      forms: addresses,
      addresses: times(PAGE_SHARES.addresses),
      strangers: times(PAGE_SHARES.strangers),
      holders: times(PAGE_SHARES.holders),
    }),
  };
}

/** Opens the routes of app owners and operators, by what they act on. */
export function openPlanes({ config, pools, clock, log }: Ground, needs: PlaneNeeds): Promise<Planes> {
  const { control, operator, rules, readStatus, paces, inFlight } = needs;
  const { addressOf, sessions, listenTokens, testTokens } = control;
  const options = {
    log,
    findSession: sessions.find,
    findListenToken: listenTokens.find,
    findTestToken: testTokens.find,
    addressOf,
    paces: paces.planes,
    showNotFound: createNotFound({ frame: config, addressOf, pace: paces.pages }),
    publicUrl: config.publicUrl,
    ...rules,
  };
  return createPlanes(options, (plane) => {
    followHandlers(plane, inFlight);
    addControlRoutes(plane, control);
    addOperatorRoutes(plane, operator);
    addStatusRoutes(plane, { readStatus, clock });
    if (config.environment === 'development') addDevelopmentPages(plane, createMailbox(pools.planes), config);
  });
}

/** All routes of app owners. */
function addControlRoutes(plane: Plane, control: ControlPlane): void {
  addAccountRoutes(plane, control);
  addSecondFactorRoutes(plane, control);
  addTrailRoutes(plane, control);
  addSessionRoutes(plane, control);
  addAppRoutes(plane, control);
  addKeyRoutes(plane, control);
  addTeamRoutes(plane, control);
  addLogoRoutes(plane, control);
  addUserRoutes(plane, control);
  addSandboxRoutes(plane, control);
  addUsageRoutes(plane, control);
  addStatsRoutes(plane, control);
  addWebhookRoutes(plane, control);
  addListenerRoutes(plane, control);
  addListenTokenRoutes(plane, control);
}
