/**
 * How long the slow test files take, in seconds, measured on two cores. A full run ends with its ten longest files: add one
 * that is missing here. A missing file counts as short, and nothing else depends on this.
 */

/** Files that mostly wait: for a lease, a timeout, a server that starts. They run beside the others. */
const WAITING: Readonly<Record<string, number>> = {
  'tests/prove/short.test.ts': 90,
  'tests/conformance/hostile-connections.test.ts': 82,
  'tests/integration/outage-restart.test.ts': 70,
  'tests/integration/outage.test.ts': 60,
  'tests/integration/webhook-listen.test.ts': 45,
  'tests/integration/crash-embedded.test.ts': 35,
  'tests/integration/crash.test.ts': 32,
  'tests/integration/embedded-postgres-crashes.test.ts': 32,
  'tests/integration/kept-answers.test.ts': 27,
  'tests/integration/crash-workers.test.ts': 20,
  'tests/integration/metrics-workers.test.ts': 20,
  'tests/conformance/sdk/retries.test.ts': 17,
  'tests/conformance/malformed-http.test.ts': 16,
  'tests/conformance/webhook/subscription.test.ts': 15,
  'packages/sdk/src/top-up.test.ts': 13,
  'tests/conformance/control/mail.test.ts': 13,
  'tests/structure/test-command.test.ts': 13,
  'tests/conformance/sandbox-outcomes.test.ts': 11,
  'tests/conformance/webhook/listeners.test.ts': 11,
  'tests/integration/holds-in-doubt.test.ts': 11,
  'tests/integration/ledger-watch.test.ts': 11,
  'tests/conformance/sandbox-parity.test.ts': 9,
  'tests/conformance/webhook/guard.test.ts': 7,
  'tests/integration/failover.test.ts': 7,
  'tests/integration/storm.test.ts': 6,
  'tests/conformance/canary.test.ts': 5,
  'tests/conformance/stream-pace.test.ts': 5,
  'tests/conformance/operator/acts-that-meet.test.ts': 4,
};

/** Files that compute. */
const COMPUTING: Readonly<Record<string, number>> = {
  'tests/browser/example.test.ts': 46,
  'tests/integration/startup.test.ts': 45,
  'tests/integration/embedded-postgres.test.ts': 43,
  'tests/browser/journey.test.ts': 42,
  'tests/conformance/control/roles.test.ts': 40,
  'tests/integration/failure-paths.test.ts': 31,
  'tests/integration/operator-command.test.ts': 30,
  'tests/property/ledger-model.test.ts': 29,
  'tests/structure/toolchain.test.ts': 25,
  'tests/browser/console.test.ts': 20,
  'tests/conformance/fuzz.test.ts': 20,
  'tests/integration/cell-moves.test.ts': 19,
  'tests/integration/grown-tables.test.ts': 19,
  'tests/browser/account.test.ts': 18,
  'tests/deploy/package.test.ts': 18,
  'tests/integration/database-loss.test.ts': 16,
  'tests/conformance/sdk/python.test.ts': 14,
  'tests/browser/ops.test.ts': 12,
  'tests/integration/cell-proofs.test.ts': 11,
  'tests/integration/hot-path-cost.test.ts': 11,
  'tests/integration/mutants.test.ts': 11,
  'tests/conformance/control/guessing.test.ts': 10,
  'tests/conformance/hostile-bodies.test.ts': 10,
  'tests/conformance/native-kinds.test.ts': 10,
  'tests/conformance/sdk/package.test.ts': 10,
  'tests/deploy/nginx.test.ts': 10,
  'tests/documents/guides.test.ts': 10,
  'tests/prove/reserves.test.ts': 10,
  'tests/conformance/body-limits.test.ts': 9,
  'tests/conformance/control/enrolment.test.ts': 9,
  'tests/integration/webhook-crashes.test.ts': 9,
  'tests/property/rate-bound.test.ts': 9,
  'tests/conformance/control/keys.test.ts': 8,
  'tests/conformance/control/second-factor.test.ts': 8,
  'tests/integration/cell-budget-calls.test.ts': 8,
  'tests/integration/cell-directory.test.ts': 8,
  'tests/integration/example-demo.test.ts': 8,
  'tests/integration/small-table-statistics.test.ts': 8,
  'tests/property/text-run.test.ts': 8,
  'tests/conformance/operator/amounts.test.ts': 7,
  'tests/conformance/pages/checkout.test.ts': 7,
  'tests/conformance/pages/topup.test.ts': 7,
  'tests/conformance/sdk/readme.test.ts': 7,
  'tests/conformance/stock-client-matrix.test.ts': 7,
  'tests/conformance/stripe-webhooks.test.ts': 7,
  'tests/integration/cell-operators.test.ts': 7,
  'tests/integration/cell-wallets.test.ts': 7,
  'tests/integration/usage-report-large.test.ts': 7,
  'tests/browser/states.test.ts': 6,
  'tests/integration/cell-reports.test.ts': 6,
  'tests/conformance/control/sandbox.test.ts': 5,
  'tests/conformance/operator/wallets.test.ts': 5,
  'tests/conformance/pages/sso.test.ts': 5,
  'tests/conformance/pages/wallet-movements.test.ts': 5,
  'tests/conformance/stripe.test.ts': 5,
  'tests/conformance/webhook/schedule.test.ts': 5,
  'tests/integration/cell-people.test.ts': 5,
  'tests/integration/example.test.ts': 5,
  'tests/property/hold-bound.test.ts': 5,
  'tests/browser/keyboard.test.ts': 4,
  'tests/browser/passkey.test.ts': 4,
  'tests/conformance/control/accounts.test.ts': 4,
  'tests/conformance/control/call-traces.test.ts': 4,
  'tests/conformance/control/key-limits.test.ts': 4,
  'tests/conformance/control/pace.test.ts': 4,
  'tests/conformance/errors.test.ts': 4,
  'tests/conformance/limits.test.ts': 4,
  'tests/conformance/order-of-refusal.test.ts': 4,
  'tests/conformance/pages/console-roles.test.ts': 4,
  'tests/conformance/pages/console.test.ts': 4,
  'tests/conformance/pages/sign-in-limits.test.ts': 4,
  'tests/conformance/pages/wallet-refund.test.ts': 4,
  'tests/conformance/parameter-table.test.ts': 4,
  'tests/conformance/retries.test.ts': 4,
  'tests/conformance/sandbox.test.ts': 4,
  'tests/conformance/stock-client-errors.test.ts': 4,
  'tests/integration/cell-buckets.test.ts': 4,
  'tests/integration/cell-budget-faults.test.ts': 4,
  'tests/integration/cell-budgets.test.ts': 4,
  'tests/integration/connections.test.ts': 4,
  'tests/integration/ledger-cost.test.ts': 4,
  'tests/integration/mail-outbox.test.ts': 4,
  'tests/integration/rate-limit-processes.test.ts': 4,
  'tests/integration/test-processor.test.ts': 4,
};

const SHORT_SECONDS = 2;
/** Tests beside their source need no service, or a small part of one. */
const UNIT_SECONDS = 0.4;
const UNITS = 'packages/';

/** Short files of these folders share processes: they leave nothing behind in theirs. */
const SHARING = [
  'packages/',
  'tests/conformance/',
  'tests/integration/',
  'tests/property/',
  'tests/documents/',
  'tests/support/',
];
/** Such files share one even if they take a little longer: they only call the service, which runs in the same process. */
const CALLING = ['tests/conformance/', 'tests/integration/cell-'];
const CALLING_SECONDS_MAX = 7;
/** Short files that need a process of their own, because they measure or change it. */
const ALONE: ReadonlySet<string> = new Set([
  'tests/integration/open-stream-memory.test.ts',
  // Metrics that a process declares or counts stay in it.
  'tests/conformance/metrics.test.ts',
  'packages/service/src/kernel/catalogue-metrics.test.ts',
  'packages/service/src/kernel/metrics.test.ts',
  // What others leave on the heap decides when it is collected.
  'packages/service/src/db/outage.test.ts',
  'packages/service/src/kernel/roster.test.ts',
]);
/** A process loads the service for half a second of processor time. A larger group would leave too few for the end of a run. */
const GROUP_SECONDS_MAX = 40;

/** Files that run in one process. */
export type Group = readonly [string, ...string[]];

export interface Queues {
  readonly waiting: readonly Group[];
  readonly computing: readonly Group[];
}

/** Both longest first, so that no long file is left over at the end, with one core idle. */
export function inQueues(files: readonly string[], isGrouped: boolean): Queues {
  const isShort = (file: string): boolean => isGrouped && mayShare(file);
  return {
    waiting: longestFirst(files.filter((file) => file in WAITING).map((file) => [file])),
    computing: longestFirst([
      ...files.filter((file) => !(file in WAITING) && !isShort(file)).map((file): Group => [file]),
      ...groupsOf(files.filter(isShort)),
    ]),
  };
}

/** For the test that every file named here exists. */
export const NAMED = [...Object.keys(WAITING), ...Object.keys(COMPUTING), ...ALONE];

function mayShare(file: string): boolean {
  if (file in WAITING || ALONE.has(file)) return false;
  const secondsMax = CALLING.some((start) => file.startsWith(start)) ? CALLING_SECONDS_MAX : SHORT_SECONDS;
  return SHARING.some((folder) => file.startsWith(folder)) && secondsOf([file]) <= secondsMax;
}

/** Neighbours in the tree load the same modules, so they are grouped by their place in it. */
function groupsOf(files: readonly string[]): readonly Group[] {
  const groups: [string, ...string[]][] = [];
  for (const file of files) {
    const last = groups.at(-1);
    if (last === undefined || secondsOf([...last, file]) > GROUP_SECONDS_MAX) groups.push([file]);
    else last.push(file);
  }
  return groups;
}

function longestFirst(groups: readonly Group[]): readonly Group[] {
  return groups.toSorted((one, other) => secondsOf(other) - secondsOf(one) || (one[0] < other[0] ? -1 : 1));
}

function secondsOf(group: Group): number {
  return group.reduce((seconds, file) => seconds + (WAITING[file] ?? COMPUTING[file] ?? shortSeconds(file)), 0);
}

function shortSeconds(file: string): number {
  return file.startsWith(UNITS) ? UNIT_SECONDS : SHORT_SECONDS;
}
