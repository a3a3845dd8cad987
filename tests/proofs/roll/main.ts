// `npm run proofs -- roll`: see README.md here.
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { startWorker } from '../../../benchmarks/support/worker.ts';
import { createPool } from '../../../packages/service/src/db/pool/pool.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import { startCluster } from '../histories/cluster.ts';
import { startCaddy } from './caddy.ts';
import { EMAIL_SEAL } from '../../support/keys.ts';
import { startNginx } from '../../support/nginx.ts';
import { type Judgement, judge } from './books.ts';
import { rollCatalogue } from './catalogue.ts';
import { createGateway, type Gateway, spawnPurser } from './gateways.ts';
import type { LoadFigures, LoadOptions, LoadOrder } from './load.ts';
import type { ProviderFacts } from './provider.ts';
import { nextVersion, thisVersion, versionAt } from './versions.ts';

const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '500' },
    streams: { type: 'string', default: '500' },
    gateways: { type: 'string', default: '3' },
    users: { type: 'string', default: '500' },
    /** A commit to begin with. Without it, this checkout restarts as itself. */
    from: { type: 'string' },
    /** Goes on to a next version of this checkout. */
    next: { type: 'boolean', default: false },
    /** Goes back to where it began, at the end. */
    back: { type: 'boolean', default: false },
    /** The proxy may also be `caddy`. */
    proxy: { type: 'string', default: 'nginx' },
    /** Reloads the proxy so often, before the restarts. */
    reloads: { type: 'string', default: '0' },
    'without-restarts': { type: 'boolean', default: false },
    'settle-seconds': { type: 'string', default: '10' },
  },
});

const RELOAD_MS = 3_000;

const directory = mkdtempSync(path.join(os.tmpdir(), 'purser-roll-'));
chmodSync(directory, 0o711);
await using owned = new AsyncDisposableStack();
owned.defer(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void owned.disposeAsync().finally(() => process.exit(1))); // Or gateways and server would stay.
}
process.exitCode = (await run()) ? 0 : 1;

async function run(): Promise<boolean> {
  const steps = versions();
  const [first] = steps;
  const provider = await startProvider();
  const cluster = await startCluster(directory);
  owned.defer(cluster.stop);
  const environment = environmentOf(cluster.url, provider);
  const gateways: Gateway[] = [];
  for (let index = 0; index < Number(values.gateways); index += 1) {
    const gateway = await createGateway({ directory: path.join(directory, `gateway-${index}`), environment });
    owned.defer(gateway.stop);
    await gateway.restart(first.root);
    gateways.push(gateway);
  }
  const owner = createPool({ url: cluster.url, role: 'owner', connectionsMax: 2, log: createLog('silent') });
  owned.defer(() => owner.end());
  const key = await fund(first.root, cluster.url);
  const proxy = await startProxy(gateways.map(({ url }) => url));
  const load = startLoad({ url: proxy.url, ca: proxy.ca, key });
  await pause(Number(values['settle-seconds']) * 1_000);
  say('before', await load.tell({ act: 'figures' }));
  for (let reload = 1; reload <= Number(values.reloads); reload += 1) {
    await proxy.reload();
    await pause(RELOAD_MS);
  }
  if (values.reloads !== '0') say(`${values.reloads} reloads of the proxy`, await load.tell({ act: 'figures' }));
  const wanted = values.from === undefined ? steps : steps.slice(1); // An older version is only upgraded.
  for (const { name, root } of values['without-restarts'] ? [] : wanted) {
    for (const [index, gateway] of gateways.entries()) {
      const { stopped, started } = await gateway.restart(root);
      console.log(
        `${name}: gateway ${index + 1} stopped in ${stopped.toFixed(1)} s and was ready ${started.toFixed(1)} s later`,
      );
      await pause(Number(values['settle-seconds']) * 1_000); // nginx tries a gateway that was down again after ten seconds.
    }
    say(name, await load.tell({ act: 'figures' }));
    sayComplaints(gateways);
  }
  const figures = await load.tell({ act: 'stop' });
  say('in all', figures);
  const facts = (await (await fetch(provider)).json()) as ProviderFacts;
  const judgement = await judge(owner, { load: figures, answeredFile: answeredFile(), provider: facts });
  const ledger = await ledgerCheck(steps.at(-1)?.root ?? first.root, environment);
  return report(figures, judgement, ledger);
}

/** The proxy that was asked for. */
async function startProxy(gateways: readonly string[]) {
  const options = { directory: mkdtempSync(path.join(directory, 'proxy-')), gateways, workers: 2 };
  const proxy = values.proxy === 'caddy' ? await startCaddy(options) : await startNginx(options);
  if (proxy === undefined) throw new Error(`${values.proxy} or openssl is missing. Install both.`);
  owned.defer(proxy.stop);
  return proxy;
}

type Steps = readonly [Step, ...Step[]];

interface Step {
  readonly name: string;
  readonly root: string;
}

/** What the gateways are restarted as, one step after the other. The first is also what they are started as. */
function versions(): Steps {
  const own = thisVersion(path.join(directory, 'own'));
  const first = values.from === undefined ? own : versionAt(values.from, path.join(directory, 'from'));
  const steps: [Step, ...Step[]] = [
    { name: values.from === undefined ? 'restart' : `restart of ${values.from}`, root: first },
  ];
  if (values.from !== undefined) steps.push({ name: 'upgrade to this checkout', root: own });
  if (values.next) steps.push({ name: 'upgrade to the next version', root: nextVersion(path.join(directory, 'next')) });
  if (values.back) steps.push({ name: 'back again', root: values.next ? own : first });
  return steps;
}

async function startProvider(): Promise<string> {
  const script = fileURLToPath(new URL('provider.ts', import.meta.url));
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  owned.defer(() => void child.kill());
  const [said] = (await once(child.stdout ?? child, 'data')) as unknown[];
  return /http:\S+/.exec(String(said))?.[0] ?? '';
}

function environmentOf(databaseUrl: string, provider: string): Readonly<Record<string, string>> {
  const catalogueFile = path.join(directory, 'catalogue.json');
  writeFileSync(catalogueFile, JSON.stringify(rollCatalogue(provider)));
  return {
    PURSER_ENV: 'production',
    PURSER_SECRET: 'a secret of the roll, which guards nothing of worth',
    PURSER_PUBLIC_URL: 'https://purser.test',
    PURSER_PROXY_HOPS: '1',
    PURSER_CATALOGUE: catalogueFile,
    PURSER_LOG_LEVEL: 'warn',
    PURSER_WORKERS: '1',
    DATABASE_URL: databaseUrl,
    PURSER_DATABASE_DURABILITY: 'none',
    NODE_COMPILE_CACHE: path.join(directory, 'compile-cache'),
  };
}

/** Opens the wallets with the code of the version that made the schema. */
async function fund(root: string, url: string): Promise<string> {
  const of = (file: string): string => pathToFileURL(path.join(root, file)).href;
  const { addApp, fundUsers } = (await import(
    of('benchmarks/support/database.ts')
  )) as typeof import('../../../benchmarks/support/database.ts');
  const pools = (await import(
    of('packages/service/src/db/pool/pool.ts')
  )) as typeof import('../../../packages/service/src/db/pool/pool.ts');
  // Nobody reads the address of this account, so any key will do.
  const owner = pools.createPool({
    url,
    role: 'owner',
    connectionsMax: 2,
    log: createLog('silent'),
    emails: EMAIL_SEAL,
  });
  const app = await addApp(owner);
  await fundUsers(owner, [app], Number(values.users));
  await owner.end();
  await pause(2_000); // Until every gateway knows the key.
  return app.liveKey;
}

function answeredFile(): string {
  return path.join(directory, 'answered.txt');
}

function startLoad({ url, ca, key }: { readonly url: string; readonly ca: Buffer; readonly key: string }) {
  const caFile = path.join(directory, 'ca.pem');
  writeFileSync(caFile, ca);
  const argument: LoadOptions = {
    url,
    caFile,
    key,
    users: Number(values.users),
    perSecond: Number(values.rate),
    streams: Number(values.streams),
    answeredFile: answeredFile(),
  };
  const script = new URL('load.ts', import.meta.url);
  const load = startWorker<LoadOrder, LoadFigures>({ command: [process.execPath], script, argument });
  owned.defer(load.stop);
  return load;
}

async function ledgerCheck(root: string, environment: Readonly<Record<string, string>>): Promise<string> {
  const child = spawnPurser(root, ['ledger', 'check'], {
    ...environment,
    PURSER_DATA_DIR: path.join(directory, 'gateway-0'),
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (part: Buffer) => void (said += part.toString('utf8')));
  const [status] = (await once(child, 'close')) as unknown[];
  return status === 0 ? 'right' : said;
}

function say(when: string, { calls, answered, streamsOpen, p50, p99, longest, seconds }: LoadFigures): void {
  console.log(
    `${when}: ${calls} calls in ${seconds.toFixed(0)} s (${(calls / seconds).toFixed(0)} a second), ${streamsOpen} streams open, ` +
      `${answered} answered; plain calls took ${p50} ms (p50), ${p99} ms (p99), ${longest} ms (longest)`,
  );
}

/** A call may be right and the gateway not: an older version whose upkeep fails on a newer schema says so in its log only. */
function sayComplaints(gateways: readonly Gateway[]): void {
  const counts = new Map<string, number>();
  for (const [complaint, times] of gateways.flatMap((gateway) => Array.from(gateway.complaints()))) {
    counts.set(complaint, (counts.get(complaint) ?? 0) + times);
  }
  for (const [complaint, times] of counts) console.log(`  in their logs, ${times} times: ${complaint}`);
}

function report({ lost }: LoadFigures, judgement: Judgement, ledger: string): boolean {
  for (const line of lost) console.log(`  lost: ${line}`);
  const { receipts, holds, ...wrong } = judgement;
  console.log(`${receipts} receipts, ${holds} holds left. Ledger: ${ledger}.`);
  console.log(
    `lost ${wrong.lost}, charged twice ${wrong.chargedTwice}, answered and not charged ${wrong.uncharged}, ` +
      `charged and not answered ${wrong.chargedUnanswered}, asked twice at the provider ${wrong.askedTwice}`,
  );
  return ledger === 'right' && holds === 0 && Object.values(wrong).every((count) => count === 0);
}
