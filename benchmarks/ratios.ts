import { type Figure, medianOf, type Row } from './measure.ts';
import { FERROGW, LIVE, NGINX, PORTKEY } from './support/target.ts';

/** A cell of a measure's table. */
interface Cell {
  readonly target: string;
  readonly column: string;
}

/** A ratio that the project has set itself: of sums of cells, or of one cell that is a ratio already. */
export interface Goal {
  readonly title: string;
  readonly measure: string;
  readonly of: readonly Cell[];
  /** The cells whose sum is the divisor. If it is absent, the cells of `of` are the ratio themselves. */
  readonly over?: readonly Cell[];
  /** The unit, such as `KiB`, of a goal that is no ratio. */
  readonly unit?: string;
  /** With `most`, less is better. With `least`, more is better. */
  readonly bound: 'most' | 'least';
  readonly floor: number;
  readonly aim: number;
}

export type Verdict = 'aim reached' | 'floor held' | 'MISSED' | 'not measured';

export interface Finding {
  readonly goal: Goal;
  /** The value that was measured. It is NaN where there was no measurement. */
  readonly value: number;
  readonly verdict: Verdict;
}

/** What was measured, by the name of the measure. */
export type Results = ReadonlyMap<string, readonly Row[]>;

const cell = (target: string, column: string): Cell => ({ target, column });

/** What must be reached, in one run on two cores. */
export const GOALS: readonly Goal[] = [
  {
    title: 'one call at a time: added p50, over that of Portkey, which charges nothing',
    measure: 'alone',
    of: [cell(LIVE, 'added p50')],
    over: [cell(PORTKEY, 'added p50')],
    bound: 'most',
    floor: 1.5,
    aim: 1.1,
  },
  {
    title: '16 connections: a charged call, service and database, over nginx',
    measure: 'plain-16',
    of: [cell(LIVE, 'service'), cell(LIVE, 'database')],
    over: [cell(NGINX, 'service')],
    bound: 'most',
    floor: 25,
    aim: 18,
  },
  {
    title: '128 connections: a charged call, service and database, over nginx',
    measure: 'plain',
    of: [cell(LIVE, 'service'), cell(LIVE, 'database')],
    over: [cell(NGINX, 'service')],
    bound: 'most',
    floor: 12,
    aim: 9,
  },
  {
    title: "128 connections: the service's share of it, over nginx",
    measure: 'plain',
    of: [cell(LIVE, 'service')],
    over: [cell(NGINX, 'service')],
    bound: 'most',
    floor: 6.5,
    aim: 5,
  },
  {
    title: 'a lone pair of hold and settlement, PostgreSQL, over a one-row commit',
    measure: 'ledger',
    of: [cell('lone pairs', 'database, in commits')],
    bound: 'most',
    floor: 20,
    aim: 12,
  },
  {
    title: 'added p50 at 2,000 calls a second, over a one-row commit',
    measure: 'latency',
    of: [cell(LIVE, 'added, in commits')],
    bound: 'most',
    floor: 18,
    aim: 10,
  },
  moreCalls('plain', '128 connections', PORTKEY, { floor: 5, aim: 7 }),
  moreCalls('plain-16', '16 connections', PORTKEY, { floor: 2, aim: 3 }),
  moreCalls('plain', '128 connections', FERROGW, { floor: 1.25, aim: 1.8 }),
  moreCalls('plain-16', '16 connections', FERROGW, { floor: 0.4, aim: 0.8 }),
  moreCalls('streamed', 'streams', FERROGW, { floor: 4.5, aim: 5.5 }),
  {
    title: '128 connections: a charged call, service and database, over an uncharged one of ferrogw',
    measure: 'plain',
    of: [cell(LIVE, 'service'), cell(LIVE, 'database')],
    over: [cell(FERROGW, 'service')],
    bound: 'most',
    floor: 0.9,
    aim: 0.7,
  },
  {
    title: 'a charged streamed call, service and database, over nginx',
    measure: 'streamed',
    of: [cell(LIVE, 'service'), cell(LIVE, 'database')],
    over: [cell(NGINX, 'service')],
    bound: 'most',
    floor: 6,
    aim: 4,
  },
  ...goalsOfWires('plain'),
  ...goalsOfWires('streamed'),
  {
    title: 'an embeddings call, over a plain chat call',
    measure: 'wires',
    of: [cell('embeddings', 'service')],
    over: [cell(`${LIVE}, plain`, 'service')],
    bound: 'most',
    floor: 0.9,
    aim: 0.8,
  },
  {
    title: "the ledger check of every minute, of PostgreSQL's processor time under load",
    measure: 'check',
    of: [cell(LIVE, 'check, of the database')],
    unit: '%',
    bound: 'most',
    floor: 5,
    aim: 2,
  },
  {
    title: 'memory of the service process under that load',
    measure: 'check',
    of: [cell(LIVE, 'memory')],
    unit: 'MB',
    bound: 'most',
    floor: 180,
    aim: 140,
  },
  {
    title: '2,000 open streams: a chunk, over nginx',
    measure: 'open-streams',
    of: [cell(LIVE, 'service')],
    over: [cell(NGINX, 'service')],
    bound: 'most',
    floor: 2,
    aim: 1.4,
  },
  {
    title: '2,000 open streams: memory a stream',
    measure: 'open-streams',
    of: [cell(LIVE, 'memory')],
    unit: 'KiB',
    bound: 'most',
    floor: 64,
    aim: 40,
  },
  {
    title: 'ledger pairs over 10,000 wallets, over one-row commits',
    measure: 'ledger',
    of: [cell('pairs over 10,000 wallets', 'times commits')],
    bound: 'least',
    floor: 2.5,
    aim: 6,
  },
  {
    title: 'ledger pairs on one wallet, over one-row commits',
    measure: 'ledger',
    of: [cell('pairs on one wallet', 'times commits')],
    bound: 'least',
    floor: 1,
    aim: 2,
  },
  {
    title: 'a call at 1,000,000 wallets and 10,000,000 rows, over an empty database',
    measure: 'growth',
    of: [cell('1,000,000 wallets', 'times empty')],
    bound: 'most',
    floor: 1.5,
    aim: 1.15,
  },
  {
    title: 'a call to an upstream over TLS, over one in clear',
    measure: 'tls',
    of: [cell('TLS', 'service')],
    over: [cell('clear', 'service')],
    bound: 'most',
    floor: 1.6,
    aim: 1.3,
  },
];

/** Charged calls a second beside a gateway that charges nothing. */
function moreCalls(measure: string, what: string, peer: string, bounds: Pick<Goal, 'floor' | 'aim'>): Goal {
  return {
    title: `${what}: charged calls a second, over uncharged ones of ${peer}`,
    measure,
    of: [cell(LIVE, 'calls/s')],
    over: [cell(peer, 'calls/s')],
    bound: 'least',
    ...bounds,
  };
}

/** What a call of another wire may cost: passed through beside a chat call, and translated beside one that is translated too. */
function goalsOfWires(kind: 'plain' | 'streamed'): readonly Goal[] {
  const ratio = (of: string, over: string) => ({
    measure: 'wires',
    of: [cell(`${of}, ${kind}`, 'service')],
    over: [cell(`${over}, ${kind}`, 'service')],
    bound: 'most' as const,
  });
  return [
    {
      title: `a ${kind} Responses call that is passed through, over a chat call`,
      ...ratio('Responses', LIVE),
      floor: 1.15,
      aim: 1,
    },
    {
      title: `a ${kind} Responses call that is translated to chat completions, over a chat call that is translated to Messages`,
      ...ratio('Responses to chat', 'chat to Messages'),
      floor: 0.7,
      aim: 0.5,
    },
    {
      title: `a ${kind} Messages call that is passed through, over a chat call`,
      ...ratio('Messages', LIVE),
      floor: 1.15,
      aim: 1,
    },
    {
      title: `a ${kind} Messages call that is translated to chat completions, over a chat call that is translated to Messages`,
      ...ratio('Messages to chat', 'chat to Messages'),
      floor: 0.7,
      aim: 0.5,
    },
  ];
}

/** Holds every goal against what was measured. A target that is void was not measured. */
export function findingsOf(results: Results, goals: readonly Goal[] = GOALS): readonly Finding[] {
  return goals.map((goal) => {
    const value = valueOf(goal, results.get(goal.measure) ?? []);
    return { goal, value, verdict: verdictOf(goal, value) };
  });
}

function verdictOf({ bound, floor, aim }: Goal, value: number): Verdict {
  if (!Number.isFinite(value)) return 'not measured';
  const holds = (limit: number): boolean => (bound === 'most' ? value <= limit : value >= limit);
  if (holds(aim)) return 'aim reached';
  return holds(floor) ? 'floor held' : 'MISSED';
}

/**
 * The median of the ratios within each round, because a round that was disturbed is disturbed above and below the line;
 * where the rounds do not match, the ratio of the medians.
 */
function valueOf({ of, over = [] }: Goal, rows: readonly Row[]): number {
  const above = of.map((one) => figureIn(rows, one));
  const below = over.map((one) => figureIn(rows, one));
  const figures = [...above, ...below];
  if (figures.some((found) => found === undefined)) return Number.NaN;
  const rounds = figures[0]?.samples.length ?? 0;
  const areAlike = rounds > 0 && figures.every((found) => found?.samples.length === rounds);
  if (!areAlike) return ratioOf(above, below, (found) => found.median);
  return medianOf(
    Array.from({ length: rounds }, (_, round) => ratioOf(above, below, (found) => found.samples[round] ?? Number.NaN)),
  );
}

function ratioOf(
  above: readonly (Figure | undefined)[],
  below: readonly (Figure | undefined)[],
  read: (found: Figure) => number,
): number {
  const sum = (figures: readonly (Figure | undefined)[]): number =>
    figures.reduce((total, found) => total + (found === undefined ? Number.NaN : read(found)), 0);
  return below.length === 0 ? sum(above) : sum(above) / sum(below);
}

function figureIn(rows: readonly Row[], { target, column }: Cell): Figure | undefined {
  const row = rows.find((one) => one.target === target);
  return row === undefined || row.isVoid !== undefined ? undefined : row.figures[column];
}
