import type { Edit, NamedTest } from '../mutant.ts';

type Change = (find: string, replacement: string) => Edit;
type Test = (name: string) => NamedTest;

export function inFile(file: string): Change {
  return (find, replacement) => ({ file, find, replacement });
}

export function ofFile(file: string): Test {
  return (name) => ({ file, name });
}

/** The files that faults are planted in: the tables, */
export const databaseTables = inFile('packages/service/migrations/0001_db.sql');
export const ledgerTables = inFile('packages/service/migrations/0006_ledger.sql');
export const indistinctTables = inFile('packages/service/migrations/0015_indistinct.sql');
export const sandboxTables = inFile('packages/service/migrations/0009_sandbox.sql');
export const usageTables = inFile('packages/service/migrations/0007_usage.sql');
export const fewerChecks = inFile('packages/service/migrations/0026_fewer_checks.sql');
export const monthTables = inFile('packages/service/migrations/0071_months.sql');
export const receiptEntries = inFile('packages/service/migrations/0025_receipts_are_entries.sql');

/** people who are deleted, */
export const deletion = inFile('packages/service/src/privacy/deletion.ts');
export const ownerDeleted = inFile('packages/service/src/connections/is_owner_deleted.sql');
export const personHistory = inFile('packages/service/src/privacy/history.ts');
export const retentionOfMail = inFile('packages/service/src/mail/queries.ts');

/** the sign-in through a provider, */
export const ssoQueries = inFile('packages/service/src/accounts/sso-queries.ts');
export const ssoEntry = inFile('packages/service/src/accounts/sso-entry.ts');
export const ssoClaims = inFile('packages/service/src/accounts/sso-claims.ts');
export const ssoClient = inFile('packages/service/src/accounts/sso-client.ts');

/** the functions of the database, */
export const largestHold = inFile('packages/service/src/db/largest_hold.sql');
export const grantedHold = inFile('packages/service/src/db/granted_hold.sql');
export const holdOutcome = inFile('packages/service/src/db/hold_outcome.sql');
export const reserve = inFile('packages/service/src/ledger/hold/reserve.sql');
export const sandboxReserve = inFile('packages/service/src/sandbox/reserve.sql');
export const sandboxSettle = inFile('packages/service/src/sandbox/settle.sql');
export const settle = inFile('packages/service/src/ledger/settlement/settle.sql');
export const settleLate = inFile('packages/service/src/ledger/settlement/settle_late.sql');
export const told = inFile('packages/service/src/ledger/check/told.ts');
export const turn = inFile('packages/service/src/ledger/turn/lane_turn.sql');
export const placeOne = inFile('packages/service/src/ledger/turn/place_one.sql');
export const settleOne = inFile('packages/service/src/ledger/turn/settle_one.sql');
export const reap = inFile('packages/service/src/ledger/recovery/reap.sql');
export const expired = inFile('packages/service/src/ledger/recovery/expired.sql');
export const credit = inFile('packages/service/src/ledger/funding/credit.sql');
export const takeBack = inFile('packages/service/src/ledger/funding/take_back.sql');
export const reinstate = inFile('packages/service/src/ledger/funding/reinstate.sql');
export const setConnected = inFile('packages/service/src/ledger/wallet/set_connected.sql');
export const walletDays = inFile('packages/service/src/ledger/wallet/days.sql');
export const lockWallet = inFile('packages/service/src/ledger/wallet/lock_wallet.sql');
export const move = inFile('packages/service/src/ledger/entries/move.sql');
export const causeOf = inFile('packages/service/src/ledger/entries/cause_of.sql');
export const bookedBefore = inFile('packages/service/src/ledger/entries/booked_before.sql');
export const movesBetween = inFile('packages/service/src/ledger/entries/moves_between.sql');
export const refuseChange = inFile('packages/service/src/ledger/entries/refuse_change.sql');
export const archivingMonths = inFile('packages/service/src/ledger/months/archive.ts');
export const detachMonth = inFile('packages/service/src/ledger/months/detach_month.sql');
export const barMonth = inFile('packages/service/src/ledger/months/bar_month.sql');
export const closeMonth = inFile('packages/service/src/ledger/months/close_month.sql');
export const makeMonth = inFile('packages/service/src/ledger/months/make_month.sql');
export const brokenRules = inFile('packages/service/src/ledger/check/broken_rules.sql');
export const walletDifferences = inFile('packages/service/src/ledger/check/wallet_differences.sql');
export const checkChanges = inFile('packages/service/src/ledger/check/check_changes.sql');
export const ledgerCheck = inFile('packages/service/src/ledger/check/check.ts');
export const tellLowBalances = inFile('packages/service/src/webhooks/tell_low_balances.sql');
export const rollUp = inFile('packages/service/src/stats/roll_up.sql');
export const rebuildReceipts = inFile('packages/service/src/stats/rebuild_receipts.sql');
export const replaceDay = inFile('packages/service/src/stats/replace_day.sql');
export const findAnswer = inFile('packages/service/src/idempotency/find.sql');

/** and the code. */
export const holdRequest = inFile('packages/service/src/gateway/usage/hold-request.ts');
export const plainCall = inFile('packages/service/src/gateway/run-in-lane.ts');
export const failure = inFile('packages/service/src/gateway/answer/answer.ts');
export const callExport = inFile('packages/service/src/telemetry/call-export.ts');
export const callSpans = inFile('packages/service/src/telemetry/call-spans.ts');
export const spanQueue = inFile('packages/service/src/telemetry/span-queue.ts');
export const traceContext = inFile('packages/service/src/telemetry/trace-context.ts');
export const tryRoute = inFile('packages/service/src/gateway/upstream/try-route.ts');
export const routeFailure = inFile('packages/service/src/gateway/upstream/failure.ts');
export const health = inFile('packages/service/src/gateway/upstream/health.ts');
export const liveLane = inFile('packages/service/src/gateway/lanes/live-lane.ts');
export const stream = inFile('packages/service/src/gateway/stream/stream.ts');
export const streamTally = inFile('packages/service/src/gateway/stream/stream-tally.ts');
export const usage = inFile('packages/service/src/gateway/usage/ending.ts');
export const tokenCounter = inFile('packages/service/src/gateway/usage/token-counter.ts');
export const catalogue = inFile('packages/contract/src/catalogue-models.ts');
export const usageReport = inFile('packages/service/src/gateway/usage/usage-report.ts');
export const validation = inFile('packages/service/src/gateway/request/validate-call.ts');
export const reportComparison = inFile('packages/service/src/reconciliation/compare.ts');
export const bills = inFile('packages/service/src/reconciliation/bills.ts');
export const billComparison = inFile('packages/service/src/reconciliation/compare-bill.ts');
export const billReading = inFile('packages/service/src/reconciliation/provider-bill.ts');
export const price = inFile('packages/service/src/catalogue/price.ts');
export const priceRows = inFile('packages/service/src/catalogue/price-row.ts');
export const catalogueEdits = inFile('packages/service/src/operator/catalogue-edit.ts');
export const unwantedPrices = inFile('packages/service/src/catalogue/unwanted-prices.ts');
export const digests = inFile('packages/service/src/idempotency/idempotency-key.ts');
export const keptAnswers = inFile('packages/service/src/idempotency/kept-answers.ts');
export const attemptsOfCalls = inFile('packages/service/src/gateway/idempotency/idempotency.ts');
export const adapter = inFile('packages/service/src/providers/openai-compatible/adapter.ts');
export const chunkReader = inFile('packages/service/src/providers/openai-compatible/chunk-reader.ts');
export const chunkStream = inFile('packages/service/src/providers/openai-compatible/chunk-stream.ts');
export const endWatch = inFile('packages/service/src/providers/openai-compatible/missing-reasons.ts');
export const admission = inFile('packages/service/src/gateway/request/admission.ts');
export const rejections = inFile('packages/service/src/gateway/idempotency/rejections.ts');
export const callSums = inFile('packages/service/src/stats/call-sums.ts');
export const parameters = inFile('packages/service/src/gateway/request/parameters.ts');
export const vendorParameters = inFile('packages/service/src/gateway/request/vendor-parameters.ts');
export const usageDialects = inFile('packages/service/src/providers/openai-compatible/usage.ts');
export const turnQueries = inFile('packages/service/src/ledger/turn/queries.ts');
export const turns = inFile('packages/service/src/ledger/turn/turns.ts');
export const landing = inFile('packages/service/src/ledger/settlement/settling.ts');
export const sandboxLanding = inFile('packages/service/src/sandbox/sandbox-hold.ts');
export const keys = inFile('packages/service/src/kernel/keys.ts');
export const pseudonyms = inFile('packages/service/src/gateway/request/pseudonyms.ts');
export const openingKeys = inFile('packages/service/src/app/keys.ts');
export const keptKeys = inFile('packages/service/src/db/kept-keys.ts');
export const pool = inFile('packages/service/src/db/pool.ts');
export const reaper = inFile('packages/service/src/ledger/recovery/reaper.ts');
export const links = inFile('packages/service/src/connections/link.ts');
export const connections = inFile('packages/service/src/connections/connection.ts');
export const connectRoute = inFile('packages/service/src/http/data-plane/connect.ts');
export const alerts = inFile('packages/service/src/connections/alerts_due.sql');
export const releasing = inFile('packages/service/src/connections/release.ts');
export const releasedWallet = inFile('packages/service/src/connections/release.sql');
export const moving = inFile('packages/service/src/identities/move.ts');
export const codeUses = inFile('packages/service/src/accounts/factor-queries.ts');
export const pendingSignIns = inFile('packages/service/src/accounts/pending-queries.ts');
export const factorChecks = inFile('packages/service/src/accounts/factor-check.ts');
export const ownKeys = inFile('packages/service/src/accounts/own-keys.ts');
export const sumsRead = inFile('packages/service/src/stats/queries.ts');
export const freshProofs = inFile('packages/service/src/accounts/fresh-proof.ts');
export const teams = inFile('packages/service/src/accounts/team.ts');
export const wallets = inFile('packages/service/src/ledger/wallet/queries.ts');
export const trail = inFile('packages/service/src/audit/queries.ts');
export const operatorRoles = inFile('packages/service/src/accounts/operator-role.ts');
export const chaining = inFile('packages/service/src/audit/chain.ts');
export const walkingChain = inFile('packages/service/src/audit/check-chain.ts');
export const limits = inFile('packages/service/src/operator/limits.ts');
export const confirming = inFile('packages/service/src/operator/pending.ts');
export const moneyActs = inFile('packages/service/src/operator/money-acts.ts');
export const accountDesk = inFile('packages/service/src/operator/accounts.ts');
export const chainCheck = inFile('packages/service/src/audit/check-chain.ts');
export const tableOfRights = inFile('packages/contract/src/operator-access.ts');
export const actingOperators = inFile('packages/service/src/accounts/operator-queries.ts');
export const listenTokens = inFile('packages/service/src/accounts/listen-token-queries.ts');
export const ownApps = inFile('packages/service/src/http/control-plane/control-plane.ts');
export const resets = inFile('packages/service/src/accounts/password-reset.ts');
export const visibleFields = inFile('packages/service/src/providers/visible-fields.ts');
export const connectLinks = inFile('packages/service/src/web/connect/connect-pages.ts');
export const emailSeal = inFile('packages/service/src/kernel/email-seal.ts');
export const sealing = inFile('packages/service/src/db/sealing.ts');
export const auditEntry = inFile('packages/service/src/audit/entry.ts');

/** The status page. */
export const publicStatus = inFile('packages/service/src/status/status.ts');
export const incidents = inFile('packages/service/src/status/queries.ts');
export const trouble = inFile('packages/service/src/status/trouble.ts');
export const observing = inFile('packages/service/src/status/observe.sql');
export const statusWords = ofFile('packages/service/src/status/status.test.ts');
export const seeing = ofFile('packages/service/src/status/trouble.test.ts');
export const noting = ofFile('tests/integration/status.test.ts');

/** backups and the doctor. */
export const backupFolder = inFile('packages/service/src/backup/folder.ts');
export const timelines = inFile('packages/service/src/backup/timelines.ts');
export const keptSettlements = inFile('packages/service/src/backup/settlements.ts');
export const archiving = inFile('packages/service/src/embedded/archive.ts');
export const tarFiles = inFile('packages/service/src/backup/tar.ts');
export const restoring = inFile('packages/service/src/backup/restore.ts');
export const copies = inFile('packages/service/src/app/restored.ts');
export const doctorCall = inFile('packages/service/src/kernel/doctor-call.ts');
export const publicAddress = inFile('packages/service/src/reach/public-address.ts');

/** The files of the tests that kill. */
export const backingUp = ofFile('packages/service/src/backup/backup.test.ts');
export const reaching = ofFile('packages/service/src/reach/reach.test.ts');
export const runningBackups = ofFile('tests/integration/operator-command.test.ts');
export const sealingTexts = ofFile('packages/service/src/kernel/email-seal.test.ts');
export const sealingAddresses = ofFile('tests/integration/sealed-addresses.test.ts');
export const payingBack = ofFile('tests/conformance/pages/wallet-refund.test.ts');
export const keepingKeys = ofFile('tests/integration/kept-keys.test.ts');
export const personData = ofFile('tests/conformance/pages/person-data.test.ts');
export const mailOutbox = ofFile('tests/integration/mail-outbox.test.ts');
export const changingSecret = ofFile('tests/integration/secret-change.test.ts');
export const starting = ofFile('tests/integration/startup.test.ts');
export const rights = ofFile('tests/integration/ledger-rights.test.ts');
export const turning = ofFile('tests/integration/ledger-turn.test.ts');
export const archivedMonths = ofFile('tests/integration/archived-months.test.ts');
export const closedMonths = ofFile('tests/integration/closed-months.test.ts');
export const receiptMonths = ofFile('tests/integration/receipt-months.test.ts');
export const mixing = ofFile('tests/integration/ledger-turn-mixed.test.ts');
export const doubting = ofFile('tests/integration/holds-in-doubt.test.ts');
export const waiting = ofFile('tests/integration/ledger-turn-waits.test.ts');
/** Random histories of wallets that move between two cells. */
export const inCells = ofFile('tests/integration/cell-proofs.test.ts')(
  'WA-09 random histories in two cells: a wallet that moves gives the answers of one that stays',
);
/** Random histories with both moneys. */
export const bothMoneys = ofFile('tests/property/sandbox-model.test.ts')(
  'SB-02 15 random histories of up to 60 steps: play money answers, holds and charges as real money does',
);
export const readingCosts = ofFile('tests/integration/ledger-cost.test.ts');
export const locks = ofFile('tests/integration/ledger-locks.test.ts');
export const reserving = ofFile('tests/integration/ledger-reserve.test.ts');
export const settling = ofFile('tests/integration/ledger-settle.test.ts');
export const chargingLate = ofFile('tests/integration/ledger-late.test.ts');
export const restarting = ofFile('tests/integration/outage-restart.test.ts');
export const comparingTold = ofFile('tests/integration/ledger-told.test.ts');
export const draining = ofFile('tests/integration/ledger-drains.test.ts');
export const sandboxHolds = ofFile('tests/integration/sandbox-holds.test.ts');
export const months = ofFile('tests/integration/ledger-months.test.ts');
export const crediting = ofFile('tests/integration/ledger-credit.test.ts');
export const clawingBack = ofFile('tests/integration/ledger-claw-back.test.ts');
export const takingBack = ofFile('tests/integration/ledger-money-out.test.ts');
export const checking = ofFile('tests/integration/ledger-differences.test.ts');
export const checkingChanges = ofFile('tests/integration/ledger-changes.test.ts');
export const watching = ofFile('tests/integration/ledger-watch.test.ts');
export const instances = ofFile('tests/integration/ledger-instances.test.ts');
export const reaping = ofFile('packages/service/src/ledger/recovery/reaper.test.ts');
export const pricing = ofFile('packages/service/src/catalogue/price.test.ts');
export const comparingReports = ofFile('packages/service/src/reconciliation/compare.test.ts');
export const providerBills = ofFile('packages/service/src/reconciliation/provider-bill.test.ts');
export const opsBills = ofFile('tests/conformance/pages/ops-bills.test.ts');
export const readingTwice = ofFile('tests/property/price-readings.test.ts');
export const specialPrices = ofFile('tests/conformance/special-prices.test.ts');
export const cataloguePages = ofFile('tests/conformance/operator/catalogue-pages.test.ts');
export const catalogueImport = ofFile('tests/conformance/operator/catalogue-import.test.ts');
export const comingIntoForce = ofFile('tests/integration/catalogue-refresh.test.ts');
export const counting = ofFile('packages/service/src/gateway/usage/usage-report.test.ts');
export const lowering = ofFile('tests/integration/lowered-output.test.ts');
export const estimating = ofFile('tests/property/token-estimates.test.ts');
export const catalogueFile = ofFile('packages/service/src/catalogue/catalogue-file.test.ts');
export const answerSize = ofFile('tests/integration/answer-size.test.ts');
export const overrunning = ofFile('tests/integration/overrun.test.ts');
export const promptBound = ofFile('tests/conformance/prompt-bound.test.ts');
export const linkReading = ofFile('packages/service/src/connections/link.test.ts');
export const consenting = ofFile('tests/integration/connections.test.ts');
export const connecting = ofFile('tests/conformance/connect.test.ts');
export const consoleHome = ofFile('tests/conformance/pages/console.test.ts');
export const consoleKeys = ofFile('tests/conformance/pages/console-keys.test.ts');
export const judgingOperators = ofFile('packages/service/src/accounts/operator-role.test.ts');
export const factoring = ofFile('tests/conformance/control/second-factor.test.ts');
export const teaming = ofFile('tests/conformance/control/team.test.ts');
export const limitingOperators = ofFile('tests/conformance/operator/limits.test.ts');
export const meetingActs = ofFile('tests/conformance/operator/acts-that-meet.test.ts');
export const newOperators = ofFile('tests/conformance/operator/new-operators.test.ts');
export const checkingChain = ofFile('tests/integration/audit-chain.test.ts');
export const rightsOfOperators = ofFile('packages/contract/src/operator-access.test.ts');
export const trailing = ofFile('tests/conformance/operator/trail.test.ts');
export const showingUsers = ofFile('tests/conformance/balance.test.ts');
export const singleSignOn = ofFile('tests/conformance/pages/sso.test.ts');
export const readingClaims = ofFile('packages/service/src/accounts/sso-claims.test.ts');
export const inviting = ofFile('tests/conformance/control/team.test.ts');
export const leadingBack = ofFile('tests/conformance/pages/connect-links.test.ts');
export const bounding = ofFile('tests/property/hold-bound.test.ts');
export const tabulating = ofFile('tests/conformance/parameter-table.test.ts');
export const holdingUp = ofFile('packages/service/src/gateway/stream/stream.test.ts');
export const charging = ofFile('tests/conformance/what-is-charged.test.ts');
export const speaking = ofFile('packages/service/src/gateway/usage/usage-dialects.test.ts');
export const exporting = ofFile('tests/integration/telemetry.test.ts');
export const queueing = ofFile('packages/service/src/telemetry/span-queue.test.ts');
export const readingParents = ofFile('packages/service/src/telemetry/trace-context.test.ts');
export const fallingBack = ofFile('tests/integration/fallback.test.ts');
export const routing = ofFile('packages/service/src/gateway/upstream/try-route.test.ts');
export const whenToOpen = ofFile('packages/service/src/gateway/upstream/health.test.ts');
export const walking = ofFile('tests/integration/failure-paths.test.ts');
export const abandoning = ofFile('tests/integration/abandoned-stream.test.ts');
export const settledFirst = ofFile('tests/conformance/settled-first.test.ts');
export const retrying = ofFile('tests/conformance/retries.test.ts');
export const keeping = ofFile('tests/integration/kept-answers.test.ts');
export const joining = ofFile('tests/integration/ledger-attempts.test.ts');
export const telling = ofFile('packages/service/src/gateway/idempotency/idempotency.test.ts');
export const reporting = ofFile('tests/conformance/webhook/events.test.ts');
export const walletOnPages = ofFile('tests/conformance/pages/wallet.test.ts');
export const walletSettings = ofFile('tests/conformance/pages/wallet-settings.test.ts');
export const connectingPages = ofFile('tests/conformance/pages/connect.test.ts');
export const sandboxing = ofFile('tests/conformance/sandbox.test.ts');
export const listening = ofFile('tests/conformance/webhook/listeners.test.ts');
export const choosingKeys = ofFile('tests/conformance/control/key-options.test.ts');
export const rejecting = ofFile('tests/conformance/rejected-requests.test.ts');
export const limiting = ofFile('tests/conformance/limits.test.ts');
export const disconnecting = ofFile('tests/conformance/disconnecting.test.ts');
export const answering = ofFile('tests/conformance/chat-completions.test.ts');
export const sums = ofFile('tests/integration/stats.test.ts');
export const callCounting = ofFile('packages/service/src/stats/call-counts.test.ts');
