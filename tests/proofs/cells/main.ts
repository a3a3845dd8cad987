// `npm run proofs -- cells`: see README.md here.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { addApp, fundUsers } from '../../../benchmarks/support/database.ts';
import { startWorker } from '../../../benchmarks/support/worker.ts';
import { addCell } from '../../../packages/service/src/cells/topology/cells.ts';
import { isLeaving } from '../../../packages/service/src/cells/moving/moving-fault.ts';
import { selectSlot } from '../../../packages/service/src/cells/moving/queries.ts';
import { slotOf } from '../../../packages/service/src/kernel/values/slot.ts';
import type { EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../../packages/service/src/kernel/values/micros.ts';
import { compareTold } from '../../../packages/service/src/ledger/told/told.ts';
import { createFunding } from '../../../packages/service/src/ledger/funding/funding.ts';
import { rollCatalogue } from '../roll/catalogue.ts';
import { untilNothingIsHeld } from '../failover/books.ts';
import type { LoadOptions, LoadOrder, LoadReport } from '../failover/load.ts';
import { fundPoor, judgeAdmission, POOR } from '../failover/poor.ts';
import { createRandom } from '../histories/random.ts';
import { assertBooksOfBoth, startMovingStage } from './moving-stage.ts';
import { SHARED_SECRET } from '../../support/keys.ts';
import { outerEnvironment } from '../../support/outer-environment.ts';
import { judgeBoth, sumsOf } from './books.ts';
import { startMortal } from './mortal.ts';

const { values } = parseArgs({
  options: {
    moves: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e6)) },
    /** The number of plain calls a second, at both gateways together. */
    rate: { type: 'string', default: '60' },
    /** The number of streams that are open at each gateway. */
    streams: { type: 'string', default: '6' },
    users: { type: 'string', default: '40' },
  },
});

const CLI = fileURLToPath(new URL('../../../packages/service/src/cli/main.ts', import.meta.url));
const PROVIDER = fileURLToPath(new URL('../roll/provider.ts', import.meta.url));
const LOAD = new URL('../failover/load.ts', import.meta.url);
const CHUNK_MS = 40;
const PAY_MS = 50;
const CREDIT = 11n;
const BEFORE_MS = 1_000;
/** The time between two deaths of gateways. */
const BETWEEN_DEATHS_MS = { least: 3_000, most: 9_000 };
/** How long a slot may refuse to move: a gateway that died holds money of its users until its lease has passed. */
const MOVE_MS_MAX = 120_000;
/** A command that is killed lives so long: it begins to move after about half a second, and most moves end two seconds later. */
const LIFE_MS = { least: 300, most: 3_000 };

type Name = 'c1' | 'c2';
const random = createRandom(Number(values.seed), 'cells');
const folder = mkdtempSync(path.join(os.tmpdir(), 'purser-cells-'));
const stage = await startMovingStage();
const provider = spawn(process.execPath, [PROVIDER, JSON.stringify({ chunkMs: CHUNK_MS })], {
  stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
});
if (provider.stdout === null) throw new Error('The provider says nothing.');
const [said] = (await once(provider.stdout, 'data')) as [Buffer];
const providerUrl = /http:\S+/.exec(String(said))?.[0] ?? '';
const catalogue = rollCatalogue(providerUrl);
const cells = {
  c1: { ...stage.one, service: await startCell('c1', stage.one.url) },
  c2: { ...stage.two, service: await startCell('c2', stage.two.url) },
};
for (const name of ['c1', 'c2'] as const) await addCell(stage.one.owner, name, cells[name].service.url);
const app = await addApp(stage.one.owner);
const users = Number(values.users);
await fundUsers(stage.one.owner, [app], users);
await fundPoor(stage.one.owner, app, 1);
const { wallets: funded } = await sumsOf(stage.one.owner);
const load = startWorker<LoadOrder, LoadReport>({
  command: [process.execPath],
  script: LOAD,
  argument: {
    urls: [cells.c1.service.url, cells.c2.service.url],
    key: app.liveKey,
    users,
    poor: POOR,
    perSecond: Number(values.rate),
    streams: Number(values.streams),
  } satisfies LoadOptions,
});

console.log(
  `seed ${values.seed}: ${values.moves} moves, ${values.rate} calls a second, ${values.streams} streams at each of two cells, ${users} users`,
);
await pause(BEFORE_MS);
await load.tell('go');
await pause(BEFORE_MS);
const over = new AbortController();
const paying = keepPaying();
const dying = keepKillingGateways();
const tally = { moves: 0, killed: 0, 'given up': 0, 'could not be given up': 0, 'gateways killed': 0 };
const stopped: number[] = [];
for (let n = 0; n < Number(values.moves); n += 1) await moveSomebody();
over.abort();
const credited = await paying;
await dying;
const { calls } = await load.tell('stop');
const isRight = await say();
await load.stop();
for (const { service } of Object.values(cells)) await service.stop();
provider.kill();
await stage.stop();
rmSync(folder, { recursive: true, force: true });
process.exit(isRight ? 0 : 1);

function startCell(name: Name, databaseUrl: string): ReturnType<typeof startMortal> {
  return startMortal({
    dataDirectory: mkdtempSync(path.join(folder, `${name}-`)),
    catalogue,
    databaseUrl,
    environment: {
      ...SHARED_SECRET,
      PURSER_CELL: name,
      PURSER_DEMO: '0',
      PURSER_LOG_LEVEL: 'info',
      PURSER_LOG_FORMAT: 'json',
    },
  });
}

/** Kills the gateway of one cell after the other, and starts it again, while calls run and slots move. */
async function keepKillingGateways(): Promise<void> {
  const choice = createRandom(Number(values.seed), 'gateways');
  for (;;) {
    await pause(choice.whole(BETWEEN_DEATHS_MS.least, BETWEEN_DEATHS_MS.most), undefined, {
      signal: over.signal,
    }).catch(() => undefined);
    if (over.signal.aborted) return;
    await cells[choice.chance(1 / 2) ? 'c1' : 'c2'].service.die(choice.whole(0, 2_000));
    tally['gateways killed'] += 1;
  }
}

/** Moves the slot of some user to the other cell. Two times of three a command is killed on the way, and half of those are given up first. */
async function moveSomebody(): Promise<void> {
  const who = random.chance(1 / 3) ? `poor-1-${random.whole(0, POOR - 1)}` : `user-${random.whole(0, users - 1)}`;
  const slot = slotOf(app.appId, who as EndUserId);
  const from = (await selectSlot(stage.one.owner, slot))?.cell as Name;
  const to: Name = from === 'c1' ? 'c2' : 'c1';
  if (random.chance(2 / 3)) {
    const command = runMove(from, to, slot);
    const ended = once(command, 'exit');
    await Promise.race([ended, pause(random.whole(LIFE_MS.least, LIFE_MS.most))]);
    if (command.exitCode === null) {
      command.kill('SIGKILL');
      await ended;
      tally.killed += 1;
    }
    if (random.chance(1 / 2)) {
      const status = await endOf(runMove(from, to, slot, '--back'));
      tally[status === 0 ? 'given up' : 'could not be given up'] += 1;
    }
  }
  if ((await selectSlot(stage.one.owner, slot))?.cell === to) {
    tally.moves += 1;
    return;
  }
  const beganMs = performance.now();
  while ((await endOf(runMove(from, to, slot))) !== 0) {
    if (performance.now() - beganMs > MOVE_MS_MAX) throw new Error(`Slot ${slot} did not move to ${to}.`);
  }
  stopped.push(performance.now() - beganMs);
  tally.moves += 1;
}

function runMove(from: Name, to: Name, slot: number, ...words: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [CLI, 'cells', 'move', String(slot), '--to', to, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...outerEnvironment(),
      ...SHARED_SECRET,
      DATABASE_URL: cells[from].url,
      PURSER_OTHER_DATABASE_URL: cells[to].url,
      PURSER_DIRECTORY_URL: cells.c1.url,
      PURSER_CELL: from,
      PURSER_DATA_DIR: folder,
      PURSER_DATABASE_DURABILITY: 'none',
      PURSER_LOG_LEVEL: 'silent',
    },
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (part: Buffer) => {
      if (!/^Slot \d+ (moved|does not move|belongs)/.test(String(part))) process.stdout.write(part);
    });
  }
  return child;
}

/** Credits users under keys, each of them twice, and perhaps in two cells. Gives what was credited. */
async function keepPaying(): Promise<bigint> {
  let credited = 0n;
  let earlier: readonly [userId: EndUserId, key: string] | undefined;
  for (let n = 0; !over.signal.aborted; n += 1) {
    await pause(PAY_MS);
    const userId = `user-${n % users}` as EndUserId;
    const key = `paid-${n}`;
    const first = await creditWhereTheyAre(userId, key);
    if (first !== 'booked') throw new Error(`The credit ${key} is ${first}.`);
    credited += CREDIT;
    if (earlier !== undefined) {
      const again = await creditWhereTheyAre(...earlier);
      if (again !== 'repeated') throw new Error(`The credit ${earlier[1]} was booked twice: ${again}.`);
    }
    if (n % 3 === 0) earlier = [userId, key];
  }
  return credited;
}

/** Tries again while the user is given to another cell. */
async function creditWhereTheyAre(userId: EndUserId, key: string): Promise<string> {
  for (;;) {
    const cell = (await selectSlot(stage.one.owner, slotOf(app.appId, userId)))?.cell as Name;
    const credit = { appId: app.appId, userId, kind: 'contract_credit', amount: micros(CREDIT), key } as const;
    try {
      return await createFunding(cells[cell].owner).credit(credit);
    } catch (fault) {
      if (!isLeaving(fault)) throw fault;
      await pause(PAY_MS);
    }
  }
}

async function endOf(command: ChildProcess): Promise<unknown> {
  const [status] = (await once(command, 'exit')) as unknown[];
  return status;
}

async function say(): Promise<boolean> {
  const owners = [stage.one.owner, stage.two.owner] as const;
  for (const owner of owners) await untilNothingIsHeld(owner);
  const judgement = await judgeBoth(owners, calls);
  const admission = await judgeAdmission(owners, calls);
  const ends = new Map<string, number>();
  for (const { end, status } of calls) {
    const name = `${end} ${status}`;
    ends.set(name, (ends.get(name) ?? 0) + 1);
  }
  console.table({ ...tally, calls: calls.length });
  console.table(Object.fromEntries(ends));
  console.table(Object.fromEntries(Object.entries(judgement).map(([kind, tags]) => [kind, tags.length])));
  const wrong = new Set(Object.values(judgement).flat());
  for (const call of calls) if (wrong.has(call.tag)) console.log(call);
  const isTold = await hasAllTold();
  console.log(
    `Of ${POOR} users with little money ${admission.spentOut} spent it all, with ${admission.refused} refusals; ${admission.overspent} spent more.`,
  );
  if (admission.spentOut === 0) console.log('Nobody spent all of their money: this proves nothing about admission.');
  const sorted = stopped.toSorted((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(0);
  console.log(`A move took ${at(0.5)} ms at the median, ${at(1)} ms at most, with the start of the command.`);
  await assertBooksOfBoth(stage);
  const [one, two] = [await sumsOf(stage.one.owner), await sumsOf(stage.two.owner)];
  const difference = funded + credited - one.wallets - two.wallets - one.charged - two.charged;
  console.log(
    `Funded ${funded} micros; in wallets ${one.wallets} and ${two.wallets}, charged ${one.charged} and ${two.charged}; difference ${difference}.`,
  );
  const isAdmissionRight = admission.overspent === 0 && admission.spentOut > 0;
  return isTold && isAdmissionRight && difference === 0n && wrong.size === 0;
}

/** Compares the logs of the gateways, which say what callers were told, with the books of their cells (WA-14). */
async function hasAllTold(): Promise<boolean> {
  let differences = 0;
  for (const { owner, service } of Object.values(cells)) {
    const { told, toldMicros, late, missing, different, doubled } = await compareTold(
      owner,
      Readable.from([service.said()]),
      (difference) => console.log(difference),
    );
    console.log(
      `${told} charges of ${toldMicros} micros in the log: ${missing} missing, ${different} different, ${doubled} doubled, ${late} charged late.`,
    );
    differences += missing + different + doubled;
  }
  return differences === 0;
}
