import { type Bench, figure, type Measure, medianOf, type Row } from '../measure.ts';
import { timeCommits } from '../support/commits.ts';
import type { Ground } from '../support/ground.ts';
import { type PacedResult, runPaced } from '../support/paced-load.ts';
import { type Target, targetsOf } from '../support/targets.ts';
import { watchBooks } from '../support/books.ts';
import { allCores } from '../support/tools.ts';

const PER_SECOND = 2_000;
const WARM_UP_SECONDS = 1;
const COMMIT_SECONDS = 1;
const COMMIT = 'one-row commit';

interface Round {
  readonly results: ReadonlyMap<string, PacedResult>;
  /** Micros. */
  readonly commit: number;
}

/** How long a call takes when there is room: what the gateway adds, against what a durable write takes at the least. */
export const latency: Measure = {
  name: 'latency',
  title: `Latency of plain calls at ${PER_SECOND.toLocaleString('en-US')} a second, on a fixed schedule`,
  run: async (bench) => {
    const ground = await bench.ground();
    const targets = targetsOf(ground, false).filter(({ name }) => name !== 'Purser sandbox');
    const books = await watchBooks(ground);
    const rounds: Round[] = [];
    let answered = 0;
    let cutOff = 0;
    // Nothing is counted by core here, and there is room on both: a database is free to use it.
    ground.database.pin(allCores());
    for (let round = 1; round <= bench.rounds; round += 1) {
      const measured = await measureRound(bench, ground, targets);
      answered += measured.answered;
      cutOff += measured.cutOff;
      rounds.push(measured);
      const told = [...measured.results].map(([name, { p50, p99 }]) => `${name} ${p50}/${p99} us`);
      bench.say(`round ${round}, p50/p99: ${told.join(', ')}; a commit ${measured.commit.toFixed(0)} us`);
    }
    ground.database.pin(ground.cores.database);
    const fault = await books.judge(bench, { answered, cutOff });
    return [...targets.map((target) => rowOf(target, rounds, target.isCharged ? fault : undefined)), commitRow(rounds)];
  },
};

async function measureRound(
  { tools, seconds }: Bench,
  { cores, database }: Ground,
  targets: readonly Target[],
): Promise<Round & { readonly answered: number; readonly cutOff: number }> {
  const results = new Map<string, PacedResult>();
  let [answered, cutOff] = [0, 0];
  for (const { name, load, isCharged } of targets) {
    const order = { ...load, perSecond: PER_SECOND };
    const warmUp = await runPaced({ ...order, seconds: WARM_UP_SECONDS }, { tools, cores: cores.load });
    const result = await runPaced({ ...order, seconds }, { tools, cores: cores.load });
    results.set(name, result);
    if (!isCharged) continue;
    answered += warmUp.calls - warmUp.bad + result.calls - result.bad;
    cutOff += warmUp.bad + result.bad;
  }
  return { results, answered, cutOff, commit: await timeCommits(database, COMMIT_SECONDS) };
}

function rowOf({ name }: Target, rounds: readonly Round[], booksFault: string | undefined): Row {
  const of = (round: Round, target = name): PacedResult | undefined => round.results.get(target);
  const column = (unit: string, value: (round: Round) => number) => figure(unit, rounds.map(value));
  const added = (round: Round): number => (of(round)?.p50 ?? Number.NaN) - (of(round, 'direct')?.p50 ?? Number.NaN);
  const bad = rounds.reduce((sum, round) => sum + (of(round)?.bad ?? 0), 0);
  const fault = bad > 0 ? `${bad} answers were wrong, failed or were not to be had in time` : booksFault;
  return {
    target: name,
    figures: {
      p50: column('us', (round) => of(round)?.p50 ?? Number.NaN),
      p99: column('us', (round) => of(round)?.p99 ?? Number.NaN),
      'added p50': column('us', added),
      'added, in commits': column('times', (round) => added(round) / round.commit),
    },
    ...(fault === undefined ? {} : { isVoid: fault }),
  };
}

function commitRow(rounds: readonly Round[]): Row {
  const commits = rounds.map(({ commit }) => commit);
  return { target: COMMIT, figures: { p50: { median: medianOf(commits), samples: commits, unit: 'us' } } };
}
