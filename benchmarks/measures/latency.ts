import { type Bench, figure, type Measure, medianOf, type Row } from '../measure.ts';
import { timeCommits } from '../support/commits.ts';
import type { Ground } from '../support/ground.ts';
import { type PacedResult, runPaced } from '../support/paced-load.ts';
import { startTally, type Tally } from '../support/tally.ts';
import { DIRECT, type Target } from '../support/target.ts';
import { peerTargetsOf, targetsOf } from '../support/targets.ts';
import { allCores } from '../support/tools.ts';

const FAST = 2_000;
const SLOW = 50;
const WARM_UP_SECONDS = 1;
const COMMIT_SECONDS = 1;
const COMMIT = 'one-row commit';

interface Round {
  readonly results: ReadonlyMap<Target, PacedResult>;
  /** Micros. */
  readonly commit: number;
}

/** How long a call takes when there is room: what the gateway adds, against what a durable write takes at the least. */
export const latency: Measure = {
  name: 'latency',
  title: `Latency of plain calls at ${FAST.toLocaleString('en-US')} a second, on a fixed schedule`,
  run: async (bench) => {
    const ground = await bench.ground();
    return await measureAt(bench, ground, FAST, targetsOf(ground, false)); // No other gateway of a vendor answers as many.
  },
};

/** The same at the pace of an ordinary installation. */
export const latencySlow: Measure = {
  name: 'latency-50',
  title: `Latency of plain calls at ${SLOW} a second, on a fixed schedule`,
  run: async (bench) => {
    const ground = await bench.ground();
    return await measureAt(bench, ground, SLOW, [...targetsOf(ground, false), ...(await peerTargetsOf(ground, false))]);
  },
};

async function measureAt(
  bench: Bench,
  ground: Ground,
  perSecond: number,
  targets: readonly Target[],
): Promise<readonly Row[]> {
  const tally = await startTally(targets);
  const rounds: Round[] = [];
  // Nothing is counted by core here, and there is room on both: a database is free to use it.
  for (const { database } of ground.pursers) database.pin(allCores());
  for (let round = 1; round <= bench.rounds; round += 1) {
    const measured = await measureRound(bench, ground, { perSecond, targets, tally, isFirst: round === 1 });
    rounds.push(measured);
    const told = [...measured.results].map(([{ name }, { p50, p99 }]) => `${name} ${p50}/${p99} us`);
    bench.say(`round ${round}, p50/p99: ${told.join(', ')}; a commit ${measured.commit.toFixed(0)} us`);
  }
  for (const { database } of ground.pursers) database.pin(ground.cores.database);
  const booksFaultOf = await tally.judge(bench);
  return [...targets.map((target) => rowOf(target, rounds, booksFaultOf(target))), commitRow(rounds)];
}

interface Pace {
  readonly perSecond: number;
  readonly targets: readonly Target[];
  readonly tally: Tally;
  readonly isFirst: boolean;
}

async function measureRound(
  { tools, seconds }: Bench,
  { cores, database }: Ground,
  { perSecond, targets, tally, isFirst }: Pace,
): Promise<Round> {
  const found = new Map<Target, PacedResult>();
  for (const target of targets) {
    const order = { ...target.load, perSecond };
    const run = (duration: number) => runPaced({ ...order, seconds: duration }, { tools, cores: cores.load });
    const results = isFirst ? [await run(WARM_UP_SECONDS), await run(seconds)] : [await run(seconds)];
    for (const result of results) {
      found.set(target, result); // The last one counts.
      tally.count(target, { answered: result.calls - result.bad, cutOff: result.bad });
    }
  }
  return { results: found, commit: await timeCommits(database, COMMIT_SECONDS) };
}

function rowOf(target: Target, rounds: readonly Round[], booksFault: string | undefined): Row {
  const direct = [...(rounds[0]?.results.keys() ?? [])].find(({ name }) => name === DIRECT);
  const of = (round: Round, one = target): PacedResult | undefined => round.results.get(one);
  const column = (unit: string, value: (round: Round) => number) => figure(unit, rounds.map(value));
  const added = (round: Round): number => (of(round)?.p50 ?? Number.NaN) - (of(round, direct)?.p50 ?? Number.NaN);
  const bad = rounds.reduce((sum, round) => sum + (of(round)?.bad ?? 0), 0);
  const fault = bad > 0 ? `${bad} answers were wrong, failed or did not come in time` : booksFault;
  return {
    target: target.name,
    figures: {
      p50: column('ms', (round) => (of(round)?.p50 ?? Number.NaN) / 1_000),
      p99: column('ms', (round) => (of(round)?.p99 ?? Number.NaN) / 1_000),
      'added p50': column('ms', (round) => added(round) / 1_000),
      'added, in commits': column('times', (round) => added(round) / round.commit),
    },
    ...(fault === undefined ? {} : { isVoid: fault }),
  };
}

function commitRow(rounds: readonly Round[]): Row {
  const commits = rounds.map(({ commit }) => commit / 1_000);
  return { target: COMMIT, figures: { p50: { median: medianOf(commits), samples: commits, unit: 'ms' } } };
}
