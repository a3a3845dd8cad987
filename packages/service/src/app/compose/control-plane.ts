import { createAccounts } from '#developers/account.ts';
import type { SendNews } from '#developers/accounts/news.ts';
import { createTestTokens } from '#developers/teams/test-token.ts';
import { createOwnApps } from '#developers/app.ts';
import { startExpiry } from '#developers/expiry.ts';
import { createPlaygroundKeys } from '#developers/keys/playground-keys.ts';
import type { MakeSingleUseKey } from '#developers/keys/single-use-keys.ts';
import { createLogos } from '#developers/apps/logo.ts';
import { createSessions } from '#developers/sessions/session.ts';
import type { CellPeople } from '#app/cells/people.ts';
import type { CellPeers } from '#app/cells/open-cells.ts';
import type { Config } from '#app/settings/config.ts';
import { createSendMail, isMailRead, type SendMail } from '#app/compose/mail.ts';
import { addOperatorRoutes, type CatalogueOfOperators, composeOperator } from '#app/compose/operator-plane.ts';
import type { Reports } from '#app/reports/reports.ts';
import { composeTeams } from '#app/compose/teams.ts';
import { addTeamRoutes } from '#http/control-plane/apps/team.ts';
import { composePayments } from '#app/compose/payments.ts';
import { createWalletMail } from '#app/compose/wallet-mail.ts';
import { startCapAlerts } from '#connections/alerts.ts';
import type { UserHistory } from '#app/reports/user-movements.ts';
import { composePeople } from '#app/compose/people.ts';
import { composeSso, operatorRulesOf } from '#app/compose/sso.ts';
import type { Links } from '#connections/link.ts';
import type { Catalogue } from '#catalogue/catalogue.ts';
import type { Pool } from '#db/pool/pool.ts';
import { createCallerAddress } from '#http/requests/caller-address.ts';
import { addAccountRoutes, addSessionRoutes } from '#http/control-plane/account/accounts.ts';
import { addAppRoutes } from '#http/control-plane/apps/apps.ts';
import { addKeyRoutes } from '#http/control-plane/apps/keys.ts';
import { addListenTokenRoutes } from '#http/control-plane/webhooks/listen-tokens.ts';
import { addListenerRoutes } from '#http/control-plane/webhooks/listeners.ts';
import { addLogoRoutes } from '#http/control-plane/apps/logos.ts';
import { addSecondFactorRoutes } from '#http/control-plane/account/second-factor.ts';
import { addTrailRoutes } from '#http/control-plane/account/trail.ts';
import { addStatsRoutes } from '#http/control-plane/usage/stats.ts';
import { addUserRoutes } from '#http/control-plane/usage/users.ts';
import { addUsageRoutes } from '#http/control-plane/usage/usage.ts';
import { addSandboxRoutes } from '#http/control-plane/sandbox/sandbox.ts';
import type { OwnCalls } from '#http/listener/own-calls.ts';
import type { ControlPlane } from '#http/planes/control-plane.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { addDevelopmentPages } from '#web/development/pages.ts';
import type { CellRoute } from '#http/cells/questions/question.ts';
import type { PageRoutes } from '#http/listener/page-routes.ts';
import { addStatusRoutes } from '#http/service/status.ts';
import type { ServiceStatus } from '#status/status.ts';
import { createNotFound } from '#web/serving/not-found.ts';
import { createPagePace, type PagePace } from '#web/serving/page-pace.ts';
import { createPages } from '#web/pages.ts';
import { accountNewsMail, enrolmentMail, verifyMail } from '#mail/account-letters.ts';
import { resetMail } from '#mail/letters.ts';
import { addWebhookRoutes } from '#http/control-plane/webhooks/webhook.ts';
import { createPlanes, type Plane, type PlanePaces, type Planes } from '#http/planes/planes.ts';
import { followHandlers, type InFlight } from '#http/listener/in-flight.ts';
import { createForgetAddresses } from '#audit/forget.ts';
import { startSealer } from '#audit/sealer.ts';
import { createForgetSignIns } from '#people/session.ts';
import { type Clock, isoOf, steadyClock } from '#kernel/time/clock.ts';
import type { Keys } from '#kernel/crypto/keys.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import type { MetricReading } from '#kernel/metrics/metrics.ts';
import { createPace, type PaceRate } from '#limits/pace.ts';
import { createThrottle, type Throttle } from '#limits/throttle.ts';
import { createMailbox } from '#mail/mailbox.ts';
import type { ProcessorWebhooks } from '#payments/booking/processor-webhooks.ts';
import { createAuditReader } from '#operator/look-up/audit-reader.ts';
import type { SandboxWallets } from '#sandbox/wallets/sandbox-wallets.ts';

interface PlanesOptions {
  readonly config: Config;
  readonly pools: {
    /** The pool that these planes use and nothing else does. */
    readonly planes: Pool;
    /** The pool of the database role that may touch play money only. */
    readonly sandbox: Pool;
    /** The pool for statements that may take a minute. */
    readonly check: Pool;
    /** The pool for statements that read a lot of usage. */
    readonly reports: Pool;
  };
  readonly reports: Reports;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly log: Log;
  /** This process's caches. They are refreshed after a change, before the person who made it gets the answer. */
  readonly apiKeys: Refreshed & { readonly makeSingleUse: MakeSingleUseKey };
  readonly whenEverywhere: ControlPlane['whenEverywhere'];
  readonly ownCalls: OwnCalls;
  readonly catalogue: CatalogueOfOperators & Pick<Catalogue, 'find' | 'list'>;
  readonly inFlight: InFlight;
  readonly webhooks: Pick<
    ControlPlane,
    'subscriptions' | 'listeners' | 'listenTokens' | 'deliveries' | 'sendTestEvent'
  >;
  readonly sandboxWallets: SandboxWallets;
  readonly readAllMetrics: () => Promise<readonly MetricReading[]>;
  readonly links: Links;
  readonly readStatus: (() => Promise<ServiceStatus>) | undefined;
  readonly history: UserHistory;
  /** What is asked of other cells. It is undefined if there are none. */
  readonly otherCells: CellPeople['otherCells'];
  /** The way to other cells. It is undefined if there are none. */
  readonly peers: CellPeers | undefined;
}

/** A cache of this process that can be loaded again from the database. */
interface Refreshed {
  readonly refresh: () => Promise<void>;
}

interface ComposedPlanes extends Planes {
  readonly pages: PageRoutes;
  /** The webhooks of the payment processor. They are undefined when none is configured. */
  readonly processorWebhooks: ProcessorWebhooks | undefined;
  /** What other cells may ask about payments. */
  readonly cellRoutes: readonly CellRoute[];
}

/** People of one office share a network address, so one address may send as much as this number of accounts. */
const ADDRESS_SHARE = 5;

/** Shares of an account's pace that are for pages, which take milliseconds to make. Nobody reads five of them a second. */
const PAGE_SHARES = { addresses: 1, strangers: 0.5, holders: 0.25 };

function createPaces({ ratePerMinute, rateBurst }: PaceRate): {
  readonly planes: PlanePaces;
  readonly pages: PagePace;
} {
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

/** Wires the routes and pages of app owners and operators to the modules they act on. */
export async function composePlanes(options: PlanesOptions): Promise<ComposedPlanes> {
  const { config, keys, pools, clock, log, inFlight, peers } = options;
  const pool = pools.planes;
  const throttle = createThrottle(pool);
  const sendMail = createSendMail({ config, pool, log });
  const sendNews = createSendNews(config, clock, sendMail);
  const walletMail = createWalletMail({ config, clock, sendMail });
  const { tellOfPayment } = walletMail;
  const payments = await composePayments({ config, keys, pool, clock, log, tellOfPayment, peers });
  const control = composeControl(options, throttle, { sendMail, sendNews });
  const operator = composeOperator({ ...options, control, payments, sendMail, sendNews });
  const paces = createPaces(config.accountPace);
  const { addressOf, sessions } = control;
  const showNotFound = createNotFound({ frame: config, addressOf, pace: paces.pages });
  const rules = operatorRulesOf(config);
  const of = {
    log,
    findSession: sessions.find,
    findListenToken: control.listenTokens.find,
    findTestToken: control.testTokens.find,
    addressOf,
    paces: paces.planes,
    showNotFound,
    publicUrl: config.publicUrl,
    ...rules,
  };
  const planes = await createPlanes(of, (plane) => {
    followHandlers(plane, inFlight);
    addRoutes(plane, control, operator);
    addStatusRoutes(plane, options);
    if (config.environment === 'development') {
      addDevelopmentPages(plane, createMailbox(pool), config);
    }
  });
  const people = composePeople({ ...options, pool, throttle, sendMail, payments, ...control });
  const expiry = startExpiry({
    db: pool,
    forget: [
      throttle.forget,
      createForgetSignIns(pool),
      createForgetAddresses(pool, config.retention.signInDays),
      control.teams.forget,
    ],
    log,
  });
  const sealer = startSealer({ pool, key: keys.kept('audit-head'), clock: steadyClock, log });
  const alerts = startCapAlerts({ pool, tell: walletMail.tellOwner, log });
  return {
    handle: planes.handle,
    nameOf: planes.nameOf,
    processorWebhooks: payments?.processorWebhooks,
    cellRoutes: payments?.cellRoutes ?? [],
    pages: createPages({
      ...control,
      ...pageParts(options),
      operator,
      rules,
      walletOwners: people,
      pace: paces.pages,
      formKeys: keys.proof('page-form'),
      log,
    }),
    close: () => Promise.all([expiry.stop(), alerts.stop(), sealer.stop(), payments?.stop()]).then(planes.close),
  };
}

/** What app owners act on. */
function composeControl(options: PlanesOptions, throttle: Throttle, mail: Mail): ControlPlane {
  const { config, pools, clock, log, keys, apiKeys, inFlight } = options;
  const pool = pools.planes;
  const isModel = (name: string): boolean => options.catalogue.find(name)?.isServed === true;
  return {
    audit: createAuditReader(pool),
    accounts: composeAccounts(options, throttle, mail),
    sessions: createSessions(pool),
    apps: createOwnApps({ pool, refresh: apiKeys.refresh, clock, isModel }),
    teams: composeTeams({ config, keys, pool, throttle, sendMail: mail.sendMail }),
    logos: createLogos(pool),
    publicUrl: config.publicUrl,
    sandboxWallets: options.sandboxWallets,
    testTokens: createTestTokens(pool),
    ...options.reports,
    ...options.webhooks,
    whenEverywhere: options.whenEverywhere,
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

function pageParts({ config, pools, apiKeys, catalogue, ownCalls, readStatus }: PlanesOptions) {
  const playgroundKeys = createPlaygroundKeys(pools.planes, apiKeys.makeSingleUse);
  return { isDevelopment: config.environment === 'development', catalogue, ownCalls, readStatus, playgroundKeys };
}

interface Mail {
  readonly sendMail: SendMail;
  readonly sendNews: SendNews;
}

/** Accounts, with the mails that they send. */
function composeAccounts(
  { config, keys, pools, clock, log }: PlanesOptions,
  throttle: Throttle,
  { sendMail, sendNews }: Mail,
) {
  return createAccounts({
    ...config,
    keys,
    pool: pools.planes,
    throttle,
    clock,
    sendReset: (email, token) => sendMail(email, resetMail({ ...config, token })),
    sendVerification: (tx, email, token) => sendMail(email, verifyMail({ ...config, token }), tx),
    sendNews,
    isSecondFactorRequired: config.environment === 'production',
    sendEnrolment: isMailRead(config)
      ? (tx, email, code) => sendMail(email, enrolmentMail({ ...config, code }), tx)
      : undefined,
    sso: composeSso(config, { clock, log }),
  });
}

/** Mails what happened to an account to its holder. */
function createSendNews(config: Config, clock: Clock, sendMail: SendMail): SendNews {
  return (tx, email, news) => {
    const at = `${isoOf(clock.nowMs()).slice(0, 16).replace('T', ' ')} UTC`;
    return sendMail(email, accountNewsMail({ ...config, at, news }), tx);
  };
}

/** All routes of the two planes. */
function addRoutes(plane: Plane, control: ControlPlane, operator: OperatorPlane): void {
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
  addOperatorRoutes(plane, operator);
}
