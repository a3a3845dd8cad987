import type { Config } from '#app/settings/config.ts';
import type { ApiKeys } from '#app/compose/api-keys.ts';
import type { Served } from '#app/catalogue/catalogue.ts';
import type { Ground } from '#app/process/ground.ts';
import { openHealth } from '#app/monitoring/health.ts';
import type { ReadAllMetrics } from '#app/monitoring/metrics.ts';
import type { Mail, SendMail } from '#app/compose/mail.ts';
import type { Payments } from '#app/compose/payments.ts';
import type { ControlPlane } from '#http/planes/control-plane.ts';
import { addAnyAppRoutes } from '#http/operator-plane/people/apps.ts';
import { addAuditRoutes } from '#http/operator-plane/look-up/audit.ts';
import { addAnyCallRoutes, addLookUpRoutes, addOverviewRoutes } from '#http/operator-plane/look-up/look-up.ts';
import { addCatalogueRoutes, addUpstreamRoutes } from '#http/operator-plane/catalogue/catalogue.ts';
import { foundCallOf, knownCalls } from '#http/planes/find-calls.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { operatorRoutes } from '#http/planes/operator-routes.ts';
import { addBillRoutes, addReconciliationRoutes } from '#http/operator-plane/money/reports.ts';
import { addPaymentRoutes } from '#http/operator-plane/money/payments.ts';
import { addPendingRoutes } from '#http/operator-plane/money/pending.ts';
import { addDeveloperAccountRoutes } from '#http/operator-plane/people/accounts.ts';
import { addPeopleRoutes } from '#http/operator-plane/people/people.ts';
import { addWalletRoutes } from '#http/operator-plane/money/wallets.ts';
import { addHealthRoutes, addLedgerCheckRoutes } from '#http/operator-plane/look-up/health.ts';
import type { Plane } from '#http/planes/planes.ts';
import { movedMail, releasedMail } from '#mail/letters.ts';
import { pendingMail } from '#mail/operator-letters.ts';
import type { TellOfPending } from '#operator/acts/second-persons.ts';
import { createAccountDesk } from '#operator/people/accounts.ts';
import { createAttention } from '#operator/health/attention.ts';
import { createCallBooks } from '#operator/look-up/call-books.ts';
import { createFinder } from '#operator/look-up/find.ts';
import { createAuditSearch } from '#operator/look-up/audit-trail.ts';
import { createAnyApps } from '#operator/people/apps.ts';
import { createCatalogueImport } from '#operator/catalogue/import.ts';
import { compareInThread } from '#app/catalogue/price-lists.ts';
import { createCatalogueDesk } from '#operator/catalogue/catalogue.ts';
import { createKeysAndEvents } from '#operator/look-up/keys-and-events.ts';
import { createLedgerCheck } from '#operator/health/ledger-check.ts';
import type { MoneyLimits } from '#operator/acts/money-limits.ts';
import { createPaymentDesk } from '#operator/money/payment-desk.ts';
import { listPayments } from '#payments/refunds/refunds.ts';
import type { MoneyGround } from '#operator/money/money-acts.ts';
import { createPendingActs } from '#operator/money/confirmations.ts';
import { createProviderTest } from '#operator/catalogue/provider-test.ts';
import { createOperatorWallets, createWalletList } from '#operator/money/wallets.ts';
import { createWalletOwners, type WalletOwnerMails } from '#operator/people/wallet-owners.ts';
import { createPreviews } from '#operator/money/wallet-preview.ts';
import { createPrivacy } from '#privacy/privacy.ts';
import { createProviderBills } from '#reconciliation/bills/bills.ts';
import { createReconciliations } from '#reconciliation/reports/reconciliations.ts';
import { formatsOf } from '#web/format/formats.ts';
import type { Reports } from '#app/reports/reports.ts';
import type { UserHistory } from '#app/reports/user-movements.ts';
import { createKeyRules } from '#providers/keys/key-rules.ts';

interface OperatorNeeds {
  /** What operators share with app owners. */
  readonly control: Pick<
    ControlPlane,
    'apps' | 'teams' | 'deliveries' | 'stats' | 'audit' | 'whenEverywhere' | 'addressOf'
  >;
  readonly apiKeys: Pick<ApiKeys, 'refresh'>;
  readonly served: Pick<Served, 'catalogue' | 'readUpstreams' | 'testCall'>;
  readonly reports: Pick<Reports, 'appUsage' | 'traces' | 'lists' | 'attentionElsewhere' | 'findElsewhere'>;
  readonly history: Pick<UserHistory, 'entriesElsewhere'>;
  readonly payments: Payments | undefined;
  readonly mail: Mail;
  readonly readAllMetrics: ReadAllMetrics;
}

/** Opens what operators act on. */
export function openOperatorPlane(ground: Ground, needs: OperatorNeeds): OperatorPlane {
  const { config, pools, clock } = ground;
  const { control, apiKeys, served, reports, payments, mail } = needs;
  const { catalogue, readUpstreams } = served;
  const pool = pools.planes;
  const { currency } = config;
  const calls = { appUsage: reports.appUsage, traces: reports.traces };
  const cases = { processor: payments?.processor, tellOfPayment: payments?.tellOfPayment };
  const tellOfPending = createTellOfPending(config, mail.send);
  const money: MoneyGround = { pool, currency, refunds: payments?.refunds, cases, tellOfPending };
  const mails: WalletOwnerMails = {
    mailReleased: (tx, email, { appName }) => mail.send(email, releasedMail({ ...mail.letterhead, appName }), tx),
    mailMoved: async (tx, { before, after }) => {
      await mail.send(before, movedMail({ ...mail.letterhead, isOld: true }), tx);
      await mail.send(after, movedMail({ ...mail.letterhead, isOld: false }), tx);
    },
  };
  const desk = createCatalogueDesk({ pool, refresh: catalogue.refresh, keys: createKeyRules(config.providerKeys) });
  return {
    cell: config.cell,
    apps: createAnyApps({ pool, defaults: config.appLimits, refresh: apiKeys.refresh }),
    wallets: createOperatorWallets(money, needs.history.entriesElsewhere),
    pending: createPendingActs(money),
    limits: limitsOf(config),
    walletOwners: createWalletOwners({ pool, currency, ...mails }),
    privacy: createPrivacy(pool),
    walletList: createWalletList(reports.lists.wallets),
    previews: createPreviews(pool, desksOf(money)),
    paymentsInto: (appId, userId) => listPayments(pool, appId, userId),
    bills: createProviderBills({ reports: pools.reports, clock, currency }),
    paymentDesk: createPaymentDesk(money, reports.lists.payments, payments?.lookAgain),
    reconciliations: createReconciliations({
      pool,
      reports: pools.reports,
      clock,
      processor: config.payments.processor === 'test' ? 'test' : 'stripe',
      listMovements: payments?.listMovements,
    }),
    catalogue: desk,
    catalogueImport: createCatalogueImport({ pool, catalogue: desk, compare: compareInThread }),
    providerTest: createProviderTest({ pool, catalogue: desk, call: served.testCall }),
    accounts: createAccountDesk(pool, mail.sendNews),
    calls,
    callBooks: createCallBooks(pool),
    readAttentionElsewhere: reports.attentionElsewhere,
    findElsewhere: reports.findElsewhere,
    readAttention: createAttention({ pool, clock, readUpstreams }),
    find: createFinder({ pool, findCalls: async (name) => (await knownCalls(calls, name)).map(foundCallOf) }),
    ...createKeysAndEvents({ pool, apps: control.apps, deliveries: control.deliveries, stats: control.stats, clock }),
    listKeys: control.apps.listKeys,
    deliveries: control.deliveries,
    teams: control.teams,
    stats: control.stats,
    whenEverywhere: control.whenEverywhere,
    clock,
    readUpstreams,
    audit: control.audit,
    auditSearch: createAuditSearch(pool),
    readHealth: openHealth(ground, needs.readAllMetrics),
    addressOf: control.addressOf,
    checkLedger: createLedgerCheck(pools.check),
  };
}

function limitsOf({ operatorLimits, currency }: Config): MoneyLimits | undefined {
  const formats = formatsOf(); // A refusal is made where the language of the reader is not known.
  return operatorLimits && { ...operatorLimits, write: (amount) => formats.amount(amount, currency) };
}

/** Mails operators that an act waits for one of them. */
function createTellOfPending({ operatorName, currency }: Config, sendMail: SendMail): TellOfPending {
  const formats = formatsOf(); // The language of an operator is known while they look at a page only.
  return async (tx, { action, amount, requestedEmail: by }, emails) => {
    const letter = pendingMail({ operatorName, by, action, amount: formats.amount(amount, currency) });
    for (const email of emails) await sendMail(email, letter, tx);
  };
}

/** The acts on wallets, for a preview: it is rolled back, so nobody is mailed and the processor is asked for nothing. */
function desksOf({ currency, refunds }: Omit<MoneyGround, 'pool'>): Parameters<typeof createPreviews>[1] {
  const unasked = refunds && { ...refunds, ask: () => Promise.resolve('asked' as const) };
  return (pool) => ({
    wallets: createOperatorWallets({ pool, currency, refunds: unasked }),
    walletOwners: createWalletOwners({ pool, currency, mailReleased: mailNobody, mailMoved: mailNobody }),
  });
}

function mailNobody(): Promise<void> {
  return Promise.resolve();
}

/** All routes under `/operator`. */
export function addOperatorRoutes(plane: Plane, operator: OperatorPlane): void {
  const routes = operatorRoutes(plane, operator);
  addOverviewRoutes(routes, operator);
  addAnyAppRoutes(routes, operator);
  addLookUpRoutes(routes, operator);
  addWalletRoutes(routes, operator);
  addPaymentRoutes(routes, operator);
  addPendingRoutes(routes, operator);
  addPeopleRoutes(routes, operator);
  addReconciliationRoutes(routes, operator);
  addBillRoutes(routes, operator);
  addCatalogueRoutes(routes, operator);
  addAnyCallRoutes(routes, operator);
  addUpstreamRoutes(routes, operator);
  addLedgerCheckRoutes(routes, operator);
  addDeveloperAccountRoutes(routes, operator);
  addAuditRoutes(routes, operator);
  addHealthRoutes(routes, operator);
}
