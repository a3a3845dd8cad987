import type { Edit, NamedTest } from '../mutant.ts';

type Change = (find: string, replacement: string) => Edit;
type Test = (name: string) => NamedTest;

function inFile(file: string): Change {
  return (find, replacement) => ({ file, find, replacement });
}

function ofFile(file: string): Test {
  return (name) => ({ file, name });
}

/** The files that faults are planted in. A function that a later migration writes anew is broken there. */
export const foundation = inFile('packages/service/migrations/0001_foundation.sql');
export const usageTables = inFile('packages/service/migrations/0005_usage.sql');
export const ledger = inFile('packages/service/migrations/0006_ledger.sql');
export const moneyOut = inFile('packages/service/migrations/0009_money_out.sql');
export const ledgerCheck = inFile('packages/service/migrations/0010_ledger_check.sql');
/** Where holds of the dead are released since. */
export const reap = inFile('packages/service/migrations/0037_reap_by_orphans.sql');
/** Where answers are kept for retries since. */
export const attempts = inFile('packages/service/migrations/0014_attempts.sql');
/** Where credits and connections are booked since. */
export const webhooks = inFile('packages/service/migrations/0024_webhooks.sql');
/** Where holds are placed and settled since, and low balances told of. */
export const ledgerCost = inFile('packages/service/migrations/0034_ledger_cost.sql');
/** What the books of an entry are checked by since. */
export const entryBooks = inFile('packages/service/migrations/0035_entry_books.sql');

/** Where an ordinary batch is placed, and settled, by one statement. */
export const fittingBatches = inFile('packages/service/migrations/0036_fitting_batches.sql');

export const holdRequest = inFile('packages/service/src/gateway/usage/hold-request.ts');
export const plainCall = inFile('packages/service/src/gateway/run-in-lane.ts');
export const stream = inFile('packages/service/src/gateway/stream/stream.ts');
export const streamTally = inFile('packages/service/src/gateway/stream/stream-tally.ts');
export const usage = inFile('packages/service/src/gateway/usage/ending.ts');
export const usageReport = inFile('packages/service/src/gateway/usage/usage-report.ts');
export const validation = inFile('packages/service/src/gateway/request/validate-call.ts');
export const price = inFile('packages/service/src/catalogue/price.ts');
export const digests = inFile('packages/service/src/idempotency/idempotency-key.ts');
export const keptAnswers = inFile('packages/service/src/idempotency/kept-answers.ts');
export const attemptsOfCalls = inFile('packages/service/src/gateway/idempotency/idempotency.ts');
export const upstreamErrors = inFile('packages/service/src/providers/openai-compatible/error.ts');
export const landing = inFile('packages/service/src/ledger/settlement/settling.ts');
export const sandboxLanding = inFile('packages/service/src/sandbox/sandbox-hold.ts');
export const pool = inFile('packages/service/src/db/pool.ts');
export const reaper = inFile('packages/service/src/ledger/recovery/reaper.ts');
export const links = inFile('packages/service/src/connections/link.ts');
export const connections = inFile('packages/service/src/connections/connection.ts');
export const connectRoute = inFile('packages/service/src/http/data-plane/connect.ts');
export const connectLinks = inFile('packages/service/src/web/connect/connect.ts');

/** The files of the tests that kill. */
export const rights = ofFile('tests/integration/ledger-rights.test.ts');
export const fitting = ofFile('tests/integration/ledger-fitting.test.ts');
/** Random histories, in one of two ways. */
export const modelled = (way: string): NamedTest =>
  ofFile('tests/property/ledger-model.test.ts')(
    `WA-09 25 random histories of up to 120 steps: the ledger answers and holds what its model does, ${way}`,
  );
export const readingCosts = ofFile('tests/integration/ledger-cost.test.ts');
export const locks = ofFile('tests/integration/ledger-locks.test.ts');
export const reserving = ofFile('tests/integration/ledger-reserve.test.ts');
export const settling = ofFile('tests/integration/ledger-settle.test.ts');
export const draining = ofFile('tests/integration/ledger-drains.test.ts');
export const sandboxHolds = ofFile('tests/integration/sandbox-holds.test.ts');
export const months = ofFile('tests/integration/ledger-months.test.ts');
export const crediting = ofFile('tests/integration/ledger-credit.test.ts');
export const clawingBack = ofFile('tests/integration/ledger-claw-back.test.ts');
export const takingBack = ofFile('tests/integration/ledger-money-out.test.ts');
export const checking = ofFile('tests/integration/ledger-differences.test.ts');
export const instances = ofFile('tests/integration/ledger-instances.test.ts');
export const reaping = ofFile('packages/service/src/ledger/recovery/reaper.test.ts');
export const pricing = ofFile('packages/service/src/catalogue/price.test.ts');
export const counting = ofFile('packages/service/src/gateway/usage/usage-report.test.ts');
export const lowering = ofFile('tests/integration/lowered-output.test.ts');
export const overrunning = ofFile('tests/integration/overrun.test.ts');
export const promptBound = ofFile('tests/conformance/prompt-bound.test.ts');
export const linkReading = ofFile('packages/service/src/connections/link.test.ts');
export const consenting = ofFile('tests/integration/connections.test.ts');
export const connecting = ofFile('tests/conformance/connect.test.ts');
export const leadingBack = ofFile('tests/conformance/pages/connect-links.test.ts');
export const walking = ofFile('tests/integration/failure-paths.test.ts');
export const abandoning = ofFile('tests/integration/abandoned-stream.test.ts');
export const settledFirst = ofFile('tests/conformance/settled-first.test.ts');
export const retrying = ofFile('tests/conformance/retries.test.ts');
export const keeping = ofFile('tests/integration/kept-answers.test.ts');
export const joining = ofFile('tests/integration/ledger-attempts.test.ts');
export const telling = ofFile('packages/service/src/gateway/idempotency/idempotency.test.ts');
export const listening = ofFile('tests/conformance/webhook/listeners.test.ts');
export const rejecting = ofFile('tests/conformance/rejected-requests.test.ts');
