// `npm run proofs -- failover`: see README.md here.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { addApp, type BenchApp, createOwner, fundUsers } from '../../../benchmarks/support/database.ts';
import { startWorker } from '../../../benchmarks/support/worker.ts';
import type { Pool } from '../../../packages/service/src/db/pool/pool.ts';
import { createRandom } from '../histories/random.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { judge, untilNothingIsHeld } from './books.ts';
import { type Cell, startCell } from './cell.ts';
import { CELLS, type CopyWay, startCopy } from './copy.ts';
import { watchCopy } from './copy-rounds.ts';
import { FAULTS, type Scene } from './faults.ts';
import { type Gateway, startGateways } from './gateways.ts';
import type { LoadOptions, LoadOrder, LoadReport } from './load.ts';
import { layNetwork } from './network.ts';
import { fundPoor, judgeAdmission, POOR } from './poor.ts';
import { findPrograms, Missing, type Programs } from './programs.ts';
import { isRight, type Round, sayAll, sayRound } from './report.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    only: { type: 'string', multiple: true, default: [] },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e6)) },
    rate: { type: 'string', default: '40' },
    /** The streams at each gateway. */
    streams: { type: 'string', default: '6' },
    users: { type: 'string', default: '60' },
    /** Commits do not wait for a standby: the check that a run would notice a loss. */
    asynchronous: { type: 'boolean', default: false },
    /** Another cell copies the directory, and finds its leader by `haproxy` or several `hosts`. */
    copy: { type: 'string' },
    /** With this option, Patroni knows nothing of the copy's slot, and the copy must stand still. */
    'without-slots': { type: 'boolean', default: false },
    /** Where data and logs are kept for a look at them. */
    keep: { type: 'string' },
  },
});

type Load = ReturnType<typeof startWorker<LoadOrder, LoadReport>>;

/** The variable is set in the namespaces, to the folder of the run. */
const INSIDE = 'PURSER_FAILOVER_INSIDE';
const GATEWAYS = 3;
const BEFORE_MS = 4_000;
const AFTER_MS = 4_000;
const READY_MS_MAX = 120_000;
/** Those after which another node leads. */
const OF_COPIES = ['killed', 'frozen', 'partitioned', 'switchover', 'replication-held'];
const unknown = values.only.filter((name) => !(name in FAULTS));
if (unknown.length > 0) {
  console.error(`There is no fault ${unknown.join(', ')}. There are ${Object.keys(FAULTS).join(', ')}.`);
  process.exit(2);
}
if (![undefined, 'haproxy', 'hosts'].includes(values.copy) || (values['without-slots'] && values.copy === undefined)) {
  console.error('--copy takes haproxy or hosts, and --without-slots comes with it.');
  process.exit(2);
}
const way = values.copy as CopyWay | undefined;
try {
  const programs = findPrograms();
  const directory = process.env[INSIDE];
  // The machines would keep this process alive. They end with it.
  if (directory === undefined) process.exitCode = enter();
  else process.exit((await play(programs, directory)) ? 0 : 1);
} catch (fault) {
  if (!(fault instanceof Missing)) throw fault;
  console.error(fault.message);
  process.exitCode = 2;
}

/**
 * Starts this program again in namespaces of its own: networks, mounts and processes that nobody else sees, and that are gone with it.
 * No rights are needed for that, and root needs no others.
 */
function enter(): number {
  const directory = values.keep ?? mkdtempSync(path.join(os.tmpdir(), 'purser-failover-'));
  mkdirSync(directory, { recursive: true });
  const own = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const asRoot = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  // The shell takes care of what its children leave behind, as the first process of a machine must.
  const shell = ['sh', '-c', '"$@"; exit $?', 'sh', process.execPath, fileURLToPath(import.meta.url)];
  const env = { ...process.env, [INSIDE]: path.resolve(directory) };
  const { status } = spawnSync('unshare', [...asRoot, ...own, ...shell, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env,
  });
  if (status !== 0) console.error(`Data and logs are in ${directory}.`);
  else if (values.keep === undefined) rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  return status ?? 1;
}

async function play(programs: Programs, directory: string): Promise<boolean> {
  console.log(`Seed ${values.seed}.${values.asynchronous ? ' Asynchronous: calls must be lost.' : ''}`);
  layNetwork();
  const cell = await startCell({
    programs,
    directory,
    isSynchronous: !values.asynchronous,
    isCopied: way !== undefined,
  });
  const [first, second, third] = await startGateways({
    cell,
    programs,
    directory,
    count: GATEWAYS,
    isSynchronous: !values.asynchronous,
    cellName: way === undefined ? undefined : CELLS.directory,
  });
  if (first === undefined || second === undefined || third === undefined) throw new Error('A gateway is missing.');
  const gateways = [first, second, third] as const;
  const copy =
    way === undefined
      ? undefined
      : await startCopy({ cell, gateway: first, programs, directory, way, hasSlots: !values['without-slots'] });
  const watch = copy && (await watchCopy(cell, copy));
  const app = await fund(cell);
  const argument: LoadOptions = {
    urls: gateways.map(({ url }) => url),
    key: app.liveKey,
    users: Number(values.users),
    poor: POOR,
    perSecond: Number(values.rate),
    streams: Number(values.streams),
  };
  const script = new URL('load.ts', import.meta.url);
  const load = startWorker<LoadOrder, LoadReport>({ command: [process.execPath], script, argument });
  const rounds: Round[] = [];
  const named = values.asynchronous ? ['replication-held'] : way === undefined ? Object.keys(FAULTS) : OF_COPIES;
  const faults = values.only.length > 0 ? values.only : named;
  for (const fault of faults) {
    console.log(`\n${fault}: ${FAULTS[fault]?.what}`);
    for (let number = 1; number <= Number(values.rounds); number += 1) {
      await withOwner(cell, (owner) => fundPoor(owner, app, rounds.length + 1));
      if (!values['without-slots']) await copy?.untilSlots();
      await cell.untilWhole(); // Standbys that get a slot restart together: nobody may lead meanwhile if the leader dies.
      const changes = watch?.begin();
      const { beganAt, isReady, calls } = await callDuring(load, { cell, gateways }, fault, number);
      const ofCopy = await changes?.end(beganAt);
      const found = await look(cell, gateways, calls);
      const round = { fault, calls, beganAt, isReady, ...found, ...(ofCopy && { copy: ofCopy }) };
      sayRound(round, number);
      rounds.push(round);
    }
  }
  await load.stop();
  console.log();
  sayAll(rounds);
  return verdict(rounds);
}

/** Plays a fault while calls are made, until everything runs again. */
async function callDuring(
  load: Load,
  scene: Pick<Scene, 'cell' | 'gateways'>,
  fault: string,
  number: number,
): Promise<Pick<Round, 'calls' | 'beganAt' | 'isReady'>> {
  const random = createRandom(Number(values.seed), `${fault}/${number}`);
  await load.tell('go');
  await pause(BEFORE_MS);
  let beganAt = Date.now();
  await FAULTS[fault]?.play({ ...scene, random, begins: () => void (beganAt = Date.now()) });
  await scene.cell.untilWhole();
  const isReady = await comes(untilReady(scene.gateways));
  await pause(AFTER_MS);
  const { calls } = await load.tell('stop');
  return { calls, beganAt, isReady };
}

/** Says what did not come, and goes on: the books are judged all the same. */
function comes(awaited: Promise<void>): Promise<boolean> {
  return awaited.then(
    () => true,
    (fault: unknown) => {
      console.log(String(fault));
      return false;
    },
  );
}

async function untilReady(gateways: readonly Gateway[]): Promise<void> {
  const all = async (): Promise<boolean> =>
    (await Promise.all(gateways.map((gateway) => gateway.isReady()))).every((isReady) => isReady);
  await waitUntil('all gateways are ready', all, READY_MS_MAX);
}

/** Lets everything come to rest, and then compares. */
async function look(
  cell: Cell,
  gateways: readonly [Gateway, ...Gateway[]],
  calls: LoadReport['calls'],
): Promise<Omit<Round, 'fault' | 'calls' | 'beganAt' | 'isReady'>> {
  return withOwner(cell, async (owner) => {
    for (const gateway of gateways) await comes(gateway.untilSettled());
    await comes(untilNothingIsHeld(owner));
    const checked = await gateways[0].command('ledger', 'check');
    const told = await gateways[0].command('ledger', 'told', ...gateways.map(({ logFile }) => logFile));
    for (const { status, said } of [checked, told]) if (status !== 0) console.log(said);
    return {
      judgement: await judge(owner, calls),
      admission: await judgeAdmission([owner], calls),
      isLedgerRight: checked.status === 0,
      hasAllTold: told.status === 0,
    };
  });
}

async function withOwner<Result>(cell: Cell, work: (owner: Pool) => Promise<Result>): Promise<Result> {
  const owner = createOwner(cell.urlAt((await cell.leader()).address));
  try {
    return await work(owner);
  } finally {
    await owner.end();
  }
}

/** Opens the wallets of those who have enough, and gives an app whose limits do not bind. */
async function fund(cell: Cell): Promise<BenchApp> {
  const app = await withOwner(cell, async (owner) => {
    const added = await addApp(owner);
    await fundUsers(owner, [added], Number(values.users));
    return added;
  });
  await pause(2_000); // Until every gateway knows the key.
  return app;
}

function verdict(rounds: readonly Round[]): boolean {
  const lost = rounds.reduce((sum, { judgement }) => sum + judgement.lost.length, 0);
  if (values.asynchronous) {
    console.log(
      lost > 0
        ? `${lost} calls were lost, as they must be without synchronous commits: a run notices a loss.`
        : 'No call was lost without synchronous commits: this run proves nothing.',
    );
    return lost > 0;
  }
  if (values['without-slots']) {
    const stood = rounds.filter(({ copy }) => copy?.seconds === undefined);
    const isSeen = stood.length > 0 && stood.every(({ copy }) => copy?.isTold === true && copy.isMended === true);
    console.log(
      isSeen
        ? 'The copy stood still without slots, as it must, and was mended: a run notices.'
        : 'The copy went on without slots, or was not mended: this run proves nothing.',
    );
    return isSeen;
  }
  if (rounds.some(({ admission }) => admission.spentOut === 0))
    console.log('In some round nobody spent all of their money: it proves nothing about admission.');
  const isGood = rounds.every(isRight);
  console.log(isGood ? 'All that callers were told is booked, once.' : 'THE BOOKS DIFFER from what callers were told.');
  return isGood;
}
