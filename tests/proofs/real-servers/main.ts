// `npm run proofs -- real-servers`: see README.md in this folder.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { catalogueAt, withVectors } from '../../support/catalogue.ts';
import { globalSetup, globalTeardown } from '../../support/global-setup.ts';
import { createTestGround } from '../../support/service.ts';
import { startServiceProcess } from '../../support/service-process.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { callAcrossPauses, callInEveryWay, type Tally } from './calls.ts';
import { makeCertificates, startHaproxy, startNginx, type StartFront } from './fronts.ts';
import { isInstalled, type Program } from './programs.ts';
import { type ModelServer, SERVERS } from './servers.ts';

const ROUNDS = Number(process.argv[2] ?? 3);
/** Only servers whose name contains this, such as `Messages`. */
const WANTED = process.argv[3] ?? '';
const CREDIT = 1_000_000_000;
/** Connections close after a second without a request: calls just before, at and after that moment. */
const PAUSES_MS = [980, 990, 995, 1_000, 1_002, 1_005, 1_010, 1_020, 2_000];
const FRONTS: readonly (readonly [name: string, start: StartFront])[] = [
  ['nginx', startNginx],
  ['haproxy', startHaproxy],
];

const missing = [
  ...SERVERS.flatMap(({ name, missing: what }) => (what === undefined ? [] : [`${name}: ${what}`])),
  ...FRONTS.filter(([name]) => !isInstalled(name)).map(([name]) => `${name}: it must be installed`),
];
for (const line of missing) console.log(`not run: ${line}`);
const servers = SERVERS.filter(({ name, missing: what }) => what === undefined && name.includes(WANTED));
const fronts: readonly (readonly [name: string, start: StartFront | undefined])[] = [
  ['no proxy', undefined],
  ...FRONTS.filter(([name]) => isInstalled(name)),
];

const directory = mkdtempSync(path.join(os.tmpdir(), 'purser-real-'));
const certificates = fronts.length > 1 ? makeCertificates(directory) : undefined;
await globalSetup();
let isRight = true;
try {
  for (const server of servers) {
    for (const [name, start] of fronts) {
      const { tally, faults } = await tryOut(server, start);
      const { calls, answered, refused, wrong, charged } = tally;
      const faultless = wrong.length === 0 && faults.length === 0;
      isRight &&= faultless;
      console.log(`${server.name} behind ${name}:`);
      console.log(`  ${calls} calls, ${answered} answered, ${charged} micros charged, ${wrong.length} wrong`);
      for (const line of new Set(refused)) console.log(`  refused: ${line}`);
      for (const line of [...wrong, ...faults]) console.log(`  WRONG: ${line}`);
    }
  }
} finally {
  await globalTeardown();
}
if (isRight) rmSync(directory, { recursive: true, force: true });
else console.log(`What the programs said is in ${directory}.`);
process.exit(isRight ? 0 : 1);

/** Calls one server, behind one proxy if one is given, through a service of its own, and looks at the books. */
async function tryOut(
  server: ModelServer,
  startFront: StartFront | undefined,
): Promise<{ readonly tally: Tally; readonly faults: readonly string[] }> {
  await using owned = new AsyncDisposableStack();
  const program = await server.start(directory);
  owned.defer(program.stop);
  const baseUrl = await addressOf(program, startFront, owned);
  const basis = catalogueAt(baseUrl, {
    providerModel: server.modelName(directory),
    outputLimitParameter: server.outputLimitParameter,
    contextTokens: 2_048,
    timeoutMs: 60_000,
  });
  const providers = { upstream: { ...basis.providers.upstream, ...server.provider } };
  const catalogue = { ...(server.makesVectors === true ? withVectors(basis) : basis), providers };
  const ground = await createTestGround(catalogue);
  owned.defer(ground.close);
  const app = await ground.addApp();
  const user = 'real';
  await ground.fund(app, user, CREDIT);
  const authority = certificates === undefined ? {} : { NODE_EXTRA_CA_CERTS: certificates.authority };
  const dataDirectory = mkdtempSync(path.join(directory, 'data-'));
  const service = await startServiceProcess({
    dataDirectory,
    catalogue,
    databaseUrl: ground.database.url,
    environment: { PURSER_LOG_LEVEL: 'warn', ...authority },
  });
  owned.defer(service.stop);
  const tally: Tally = { calls: 0, answered: 0, refused: [], wrong: [], charged: 0 };
  const target = { url: service.url, app, user, model: 'large' };
  for (let round = 0; round < ROUNDS; round += 1) {
    await Promise.all([1, 2].map(() => callInEveryWay(target, tally, server)));
    if (startFront !== undefined) await callAcrossPauses(target, tally, PAUSES_MS, server);
  }
  await waitUntil('nothing is held', async () => (await ground.wallet(app, user)).held === 0);
  const differences = await ground.check();
  const { balance } = await ground.wallet(app, user);
  const faults = differences.map((difference) => `the books: ${JSON.stringify(difference)}`);
  // Those who left a stream pay too, and did not learn how much.
  if (CREDIT - balance < tally.charged) faults.push(`the wallet paid ${CREDIT - balance}`);
  return { tally, faults };
}

/** The address by which the service calls a server: its own, or that of a proxy with TLS by a private authority. */
async function addressOf(program: Program, startFront: StartFront | undefined, owned: AsyncDisposableStack) {
  if (startFront === undefined || certificates === undefined) return `http://127.0.0.1:${program.port}/v1`;
  const front = await startFront({ directory, certificates, behind: program.port });
  owned.defer(front.stop);
  return `https://127.0.0.1:${front.port}/v1`;
}
