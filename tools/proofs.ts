import { spawnSync } from 'node:child_process';
import { PROOFS } from './test-files.ts';
import { ROOT } from './toolchain.ts';

/** A long proof. `npm run proofs` runs the short form of those that have tests in `tests/proofs`. */
interface Proof {
  readonly says: string;
  /** Commands of Node in the root of the repository; each must end with 0. Arguments after the name go to the last one. */
  readonly long: readonly (readonly string[])[];
  readonly environment?: Readonly<Record<string, string>>;
}

const tests = (...args: readonly string[]): readonly string[] => ['tools/test.ts', ...args];
const folder = (name: string): readonly string[] => tests(`${PROOFS}/${name}`);

/** Every proof by its name. A name that is a folder of `tests/proofs` without a longer form runs its tests. */
export const LONG: Readonly<Record<string, Proof>> = {
  admission: {
    says: '100 rounds of 200 simultaneous calls over two and four gateways: what is worth k calls admits k',
    long: [tests('--rounds', '100', `${PROOFS}/rushes/exactly-k.test.ts`)],
  },
  alerts: {
    says: 'tests the alerts with `promtool`; needs Prometheus',
    long: [tests('tests/deploy/alerts.test.ts')],
    environment: { PURSER_TRY: '1' },
  },
  backup: { says: 'backs up and restores a service under load', long: [['tools/try-backup.ts']] },
  cells: {
    says: 'moves users between two cells while gateways and commands are killed, then 60 rounds of random histories',
    long: [[`${PROOFS}/cells/main.ts`], tests('--rounds', '60', `${PROOFS}/cells/cell-proofs.test.ts`)],
  },
  agents: {
    says: 'installs Codex CLI and opencode, and runs each alone in a network that holds nothing but the service',
    long: [[`${PROOFS}/agents/main.ts`]],
  },
  clients: {
    says: 'installs the newest stock clients and agent libraries, and runs all scenarios with them',
    long: [[`${PROOFS}/clients/main.ts`]],
  },
  container: {
    says: 'builds the image and makes a charged call with it; needs Docker',
    long: [['tools/try-container.ts']],
  },
  costs: { says: 'counts what a call, a page and a check cost the database and the heap', long: [folder('costs')] },
  crashes: {
    says: 'kills gateways, workers and databases, fills a disk, takes the database away',
    long: [folder('crashes')],
  },
  dashboard: {
    says: 'asks every query of the dashboard; needs Prometheus',
    long: [[`${PROOFS}/observed/dashboard.ts`]],
  },
  deliveries: {
    says: 'delivers 10,500 webhook events while workers are killed: each arrives unchanged',
    long: [tests('--rounds', '150', `${PROOFS}/crashes/webhook-crashes.test.ts`)],
  },
  failover: {
    says: 'three database machines with Patroni and three gateways under load: kills, freezes and cuts them off',
    long: [[`${PROOFS}/failover/main.ts`]],
  },
  failures: {
    says: 'runs every failure path twenty times, plain and streamed, and checks each charge',
    long: [tests('--rounds', '20', `${PROOFS}/waits/failure-paths.test.ts`)],
  },
  fuzz: {
    says: 'sends 100,000 seeded hostile requests: no 5xx, no exit, books right',
    long: [[`${PROOFS}/hostile/fuzz.ts`]],
  },
  histories: {
    says: 'kills gateways and databases in the middle of calls and proves that the books are right (`--histories 20`)',
    long: [[`${PROOFS}/histories/main.ts`]],
  },
  hostile: { says: 'sends malformed, slow, huge and hostile requests', long: [folder('hostile')] },
  install: {
    says: 'installs the package, packs as the image does, plays the page for one server, and serves through nginx',
    long: [folder('install')],
  },
  kubernetes: { says: 'validates the manifests by the schemas of Kubernetes', long: [['tools/try-kubernetes.ts']] },
  looks: {
    says: 'opens the pages in a browser in every look and keeps screenshots in `.test-output/screenshots`',
    long: [tests('tests/browser', `${PROOFS}/pages`)],
    environment: { PURSER_TEST_LOOKS: 'every' },
  },
  mutants: {
    says: 'plants typical mistakes with money, one at a time, and names the test that catches each',
    long: [['tools/mutants/main.ts']],
  },
  outage: {
    says: 'plays outages in a real service, by which alerts fire; needs Prometheus',
    long: [[`${PROOFS}/observed/outage.ts`]],
  },
  pack: {
    says: 'installs the package and the archive offline and makes a charged call with each',
    long: [['--disable-warning=ExperimentalWarning', 'tools/pack/try.ts']],
  },
  pages: { says: 'drives every page in a browser', long: [folder('pages')] },
  prices: {
    says: 'reads a million random prices and usages twice and compares the charges to the micro',
    long: [tests('--rounds', '500', 'tests/property/price-readings.test.ts')],
  },
  proxy: {
    says: 'reloads nginx under load: no call is lost',
    long: [[`${PROOFS}/roll/main.ts`, '--rate', '100', '--streams', '100', '--reloads', '5', '--without-restarts']],
  },
  python: { says: 'tests the Python package with every Python of the machine', long: [['tools/try-python.ts']] },
  'real-servers': {
    says: 'calls llama.cpp and `transformers serve` through proxies, if they are installed',
    long: [[`${PROOFS}/real-servers/main.ts`]],
  },
  roll: { says: 'restarts and upgrades gateways under load, and goes back', long: [[`${PROOFS}/roll/main.ts`]] },
  rushes: { says: 'many calls at once over several gateways', long: [folder('rushes')] },
  sdk: { says: 'packs the SDK, and runs its README and the Python package', long: [folder('sdk')] },
  servers: { says: 'starts services and database clusters of their own, in every way', long: [folder('servers')] },
  soak: {
    says: 'holds 1,000 streams, slow senders, large bodies or floods of pages (`streams`, `slow`, `bodies`, `pages`)',
    long: [[`${PROOFS}/hostile/soak.ts`]],
  },
  stats: {
    says: 'writes a million receipts, kills what adds them up, rebuilds and compares',
    long: [['tools/stats-million.ts']],
  },
  storm: {
    says: '10,000 calls while two of three upstreams throttle, hang and die',
    long: [tests('--rounds', '100', `${PROOFS}/rushes/storm.test.ts`)],
  },
  toolchain: { says: 'types, lint and format, and each rule of them seen to fail', long: [folder('toolchain')] },
  waits: { says: 'sits out the true lengths of deadlines, leases and failure paths', long: [folder('waits')] },
};

if (import.meta.main) {
  const [name, ...args] = process.argv.slice(2);
  if (name === undefined) process.exitCode = run(tests('--timeout', '600', '--limit', '2400', PROOFS));
  else if (name === 'help') console.log(namesOf());
  else process.exitCode = runLong(name, args);
}

function namesOf(): string {
  const names = Object.entries(LONG).map(([name, { says }]) => `  ${name.padEnd(14)}${says}`);
  return `npm run proofs            all proofs in their short form\nnpm run proofs -- <name>  one proof in its long form:\n${names.join('\n')}`;
}

function runLong(name: string, args: readonly string[]): number {
  const proof = Object.hasOwn(LONG, name) ? LONG[name] : undefined;
  if (proof === undefined) {
    console.error(`There is no proof with the name ${name}.\n\n${namesOf()}`);
    return 2;
  }
  for (const [index, command] of proof.long.entries()) {
    const code = run(index === proof.long.length - 1 ? [...command, ...args] : command, proof.environment);
    if (code !== 0) return code;
  }
  return 0;
}

function run(args: readonly string[], environment: Readonly<Record<string, string>> = {}): number {
  const { status } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  });
  return status ?? 1;
}
