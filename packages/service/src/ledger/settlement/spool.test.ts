import assert from 'node:assert/strict';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { newCallId } from '#kernel/values/ids.ts';
import { createLog } from '#kernel/log.ts';
import { micros } from '#kernel/values/micros.ts';
import { readMetrics } from '#kernel/metrics/metrics.ts';
import { declareSpoolMetrics } from '#ledger/settlement/metrics.ts';
import type { Settlement } from '#ledger/settlement/settlement.ts';
import { createSpool, type Spool } from '#ledger/settlement/spool.ts';
import { lineOf, readSpooled } from '#ledger/settlement/spool-record.ts';
import { type Landing, replayFiles } from '#ledger/settlement/spool-replay.ts';

const RARE = {
  cacheWriteLongTokens: 1,
  audioInputTokens: 2,
  imageInputTokens: 3,
  audioOutputTokens: 4,
  imageOutputTokens: 0,
  searches: 6,
};
const LANDED: Landing = { isStuck: false, refused: 0 };
const landed = async (): Promise<Landing> => LANDED;

function settlementOf(charge: bigint): Settlement {
  return {
    callId: newCallId(),
    charge: micros(charge),
    outcome: 'answered',
    model: 'acme.large-1',
    priceId: 7n,
    isEstimated: true,
    isUsageClamped: false,
    usage: { promptTokens: 10, cachedTokens: 1, cacheWriteTokens: 0, completionTokens: 5, reasoningTokens: 2 },
    correlationId: undefined,
    session: undefined,
  };
}

/** A directory for spools, and a clock that only the test moves. */
function arrange(t: TestContext) {
  const parent = mkdtempSync(path.join(os.tmpdir(), 'purser-spool-'));
  t.after(() => rmSync(parent, { recursive: true, force: true }));
  const directory = path.join(parent, 'settlements');
  const clock = { ms: 1_000, nowMs: () => clock.ms };
  const open = (): Spool => {
    const spool = createSpool({ directory, clock, log: createLog('silent') });
    t.after(spool.close);
    return spool;
  };
  const names = (): readonly string[] => readdirSync(directory);
  const pathOf = (index: number): string => path.join(directory, names()[index] ?? '');
  return { directory, clock, open, names, pathOf };
}

/** Replays, and returns the settlements that were there to land. */
async function replayed(spool: Spool, landing = LANDED) {
  const found: Settlement[] = [];
  const isDone = await spool.replay(async (settlements) => {
    found.push(...settlements);
    return landing;
  });
  return { found, isDone };
}

test('WA-17 a settlement is read back as written', () => {
  const settlements = [
    settlementOf(9_007_199_254_740_991n),
    { ...settlementOf(0n), model: undefined, priceId: undefined },
    { ...settlementOf(1n), usage: { ...settlementOf(1n).usage, rare: RARE } },
    { ...settlementOf(2n), session: { name: 's', client: 'codex' as const, wire: 'responses' } },
    { ...settlementOf(3n), session: { name: 's', client: undefined, wire: 'chat' } },
  ];
  const read = readSpooled(settlements.map(lineOf).join(''));
  assert.deepEqual(read, { settlements, malformed: 0, isTorn: false });
});

for (const [what, line] of [
  ['no JSON', 'garbage'],
  [
    'half of its rare counts',
    lineOf({ ...settlementOf(5n), usage: { ...settlementOf(5n).usage, rare: { ...RARE, searches: 1.5 } } }).trim(),
  ],
  ['an amount as a number', lineOf(settlementOf(5n)).trim().replace('"5"', '5')],
  ['a negative amount', lineOf(settlementOf(5n)).trim().replace('"5"', '"-5"')],
  ['an amount above the maximum', lineOf(settlementOf(5n)).trim().replace('"5"', '"9007199254740992"')],
  ['another outcome', lineOf(settlementOf(5n)).replace('answered', 'stolen').trim()],
  ['no call', lineOf(settlementOf(5n)).replace('callId', 'call').trim()],
  ['half a token', lineOf(settlementOf(5n)).replace(':10,', ':1.5,').trim()],
] as const) {
  test(`WA-17 a line with ${what} is skipped, its neighbours are read`, () => {
    const around = [settlementOf(1n), settlementOf(2n)] as const;
    const read = readSpooled(`${lineOf(around[0])}${line}\n${lineOf(around[1])}`);
    assert.deepEqual(read, { settlements: around, malformed: 1, isTorn: false });
  });
}

test('WA-17 CP-19 a damaged session costs no settlement', () => {
  const session = { name: 's', client: undefined, wire: 'chat' };
  const damaged = [
    { ...session, name: 'a b' },
    { ...session, name: '' },
    { ...session, wire: '' },
  ];
  const settlements = damaged.map(() => settlementOf(1n));
  const lines = settlements.map((one, at) => lineOf({ ...one, session: damaged[at] }));
  assert.deepEqual(readSpooled(lines.join('')), { settlements, malformed: 0, isTorn: false });
});

/** What the metrics report of a spool: how many settlements, and how many seconds old the oldest is. */
function shown(): readonly (number | undefined)[] {
  return ['purser_settlements_kept', 'purser_settlements_kept_oldest_seconds'].map((metric) => {
    return readMetrics().find(({ name }) => name === metric)?.samples[0]?.[1];
  });
}

test('WA-17 `keep` resolves on disk, and landed files go', async (t) => {
  const { open, clock, names, pathOf } = arrange(t);
  const spool = open();
  const settlements = [1n, 2n, 3n].map(settlementOf);
  assert.deepEqual(await Promise.all(settlements.map(spool.keep)), [true, true, true]);
  assert.equal(readFileSync(pathOf(0), 'utf8'), settlements.map(lineOf).join(''));
  clock.ms += 500;
  assert.deepEqual([spool.kept(), spool.oldestKeptMs()], [3, 500]);
  declareSpoolMetrics(spool);
  assert.deepEqual(shown(), [3, 0.5]);
  for (const { callId } of settlements.slice(1)) spool.crossOff(callId);
  assert.equal(names().length, 1); // One of them is still waiting.
  spool.crossOff(settlements[0]?.callId ?? newCallId());
  await spool.close();
  assert.deepEqual([spool.kept(), spool.oldestKeptMs(), names()], [0, 0, []]);
});

test('WA-17 another process replays and removes abandoned files', async (t) => {
  const { open, names } = arrange(t);
  const [dead, living] = [open(), open()];
  const settlements = [1n, 2n].map(settlementOf);
  for (const settlement of settlements) await dead.keep(settlement);
  assert.deepEqual(await replayed(dead), { found: [], isDone: true }); // A spool does not replay its own file.
  assert.deepEqual(await replayed(living), { found: settlements, isDone: true });
  assert.deepEqual(names(), []);
});

test('WA-17 an owner whose file was claimed starts a new one', async (t) => {
  const { directory, open, pathOf } = arrange(t);
  const [owner, other] = [open(), open()];
  await owner.keep(settlementOf(1n));
  renameSync(pathOf(0), path.join(directory, 'claimed.jsonl'));
  const late = settlementOf(2n);
  assert.equal(await owner.keep(late), true);
  rmSync(path.join(directory, 'claimed.jsonl')); // The claimer had read the file before the second settlement was added.
  assert.deepEqual((await replayed(other)).found, [late]);
});

test('WA-17 a file that cannot land stays for a later pass', async (t) => {
  const { open, names } = arrange(t);
  const [dead, living, third] = [open(), open(), open()];
  const settlement = settlementOf(1n);
  await dead.keep(settlement);
  assert.equal((await replayed(living, { isStuck: true, refused: 0 })).isDone, false);
  await assert.rejects(living.replay(() => Promise.reject(new Error('The server is away.'))));
  assert.equal(names().length, 1);
  assert.deepEqual(await replayed(third), { found: [settlement], isDone: true });
  assert.deepEqual(names(), []);
});

test('WA-17 a file that another process claims is not reported landed', async (t) => {
  const { directory, open, pathOf } = arrange(t);
  const dead = open();
  await dead.keep(settlementOf(1n));
  const found = pathOf(0);
  const isOwn = (): boolean => {
    renameSync(found, path.join(directory, 'claimed.jsonl')); // Between listing the directory and claiming the file.
    return false;
  };
  assert.equal(await replayFiles({ directory, isOwn, land: landed, log: createLog('silent') }), false);
});

test('WA-17 a torn last line is skipped', async (t) => {
  const { open, names, pathOf } = arrange(t);
  const [dead, living] = [open(), open()];
  const settlement = settlementOf(1n);
  await dead.keep(settlement);
  appendFileSync(pathOf(0), lineOf(settlementOf(2n)).slice(0, 40));
  assert.deepEqual(await replayed(living), { found: [settlement], isDone: true });
  assert.deepEqual(names(), []);
});

test('WA-17 a garbage line is set aside, not retried', async (t) => {
  const { directory, open, names } = arrange(t);
  const settlement = settlementOf(1n);
  mkdirSync(directory);
  writeFileSync(path.join(directory, 'left.jsonl'), `garbage\n${lineOf(settlement)}`);
  const living = open();
  assert.deepEqual(await replayed(living), { found: [settlement], isDone: true });
  assert.equal(names().length, 1);
  assert.match(names()[0] ?? '', /\.unreadable$/);
  assert.deepEqual(await replayed(living), { found: [], isDone: true });
});

test('WA-17 a settlement refused for good is set aside', async (t) => {
  const { open, names } = arrange(t);
  const [dead, living] = [open(), open()];
  await dead.keep(settlementOf(1n));
  assert.equal((await replayed(living, { isStuck: false, refused: 1 })).isDone, true);
  assert.match(names()[0] ?? '', /\.unreadable$/);
});

test('WA-17 an unreadable file does not stop a pass', async (t) => {
  const { directory, open, names } = arrange(t);
  mkdirSync(path.join(directory, 'odd.jsonl'), { recursive: true });
  assert.deepEqual(await replayed(open()), { found: [], isDone: true });
  assert.match(names()[0] ?? '', /\.unreadable$/);
});

test('WA-17 a spool that cannot write reports it and recovers', async (t) => {
  const { directory, open } = arrange(t);
  writeFileSync(directory, ''); // A file in place of its directory.
  const spool = open();
  assert.equal(await spool.keep(settlementOf(1n)), false);
  assert.equal(spool.kept(), 1); // It still waits in memory.
  rmSync(directory);
  assert.equal(await spool.keep(settlementOf(2n)), true);
});

test('WA-17 a closed spool leaves its files alone', async (t) => {
  const { open, names } = arrange(t);
  const spool = open();
  const settlement = settlementOf(1n);
  await spool.keep(settlement);
  await spool.close();
  spool.crossOff(settlement.callId);
  assert.equal(await spool.keep(settlementOf(2n)), false);
  await spool.close(); // Waits for any work it may have begun.
  assert.equal(names().length, 1);
});
