import type { Queryable } from '#db/pool/pool.ts';
import { assert } from '#kernel/faults/assert.ts';
import { dateOf } from '#kernel/time/clock.ts';
import type { AppId, KeyId } from '#kernel/values/ids.ts';
import { type Micros, microsSumFromRow } from '#kernel/values/micros.ts';
import { type Latency, latencyOf } from '#calls/stats/latency.ts';
import { FAULTS, type OutcomeKind, kindOf, PROVIDER_ERRORS, SERVED, type StatsOutcome } from '#calls/stats/outcome.ts';
import type { KeySums } from '#calls/stats/key-queries.ts';
import type { Firsts, SumsQuery, SumsRow } from '#calls/stats/queries.ts';
import { RANGE_MS_MAX, STEP_MS, type StatsTime, type Step } from '#calls/stats/range.ts';
import { createStatsRows, type StatsRows } from '#calls/stats/rows.ts';

/** Whose calls are read: those of one app, of several (those of an account), or of all apps, which is for operators. */
type StatsOf = { readonly appId: AppId } | { readonly appIds: readonly AppId[] } | { readonly of: 'every app' };

type StatsRange = StatsOf & StatsTime;

/** Sums of calls. Calls are charged, refused, failed by the provider or by us, or else cost nothing. */
export interface Figures {
  readonly calls: number;
  readonly chargedCalls: number;
  /** The calls that we decided against, for a reason that their code says. */
  readonly refusals: number;
  readonly providerErrors: number;
  readonly faults: number;
  /** What users paid. Play money in the sandbox. */
  readonly charged: Micros;
  /**
   * What the catalogue's prices say that providers charged for the calls that users paid for: each charge without its margin, to the
   * micro. 0 in the sandbox. A call that was charged less than it cost, because its hold was smaller, counts with less.
   */
  readonly cost: Micros;
  /** The part of `charged` whose cost is not known: from before it was counted. */
  readonly uncosted: Micros;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** The time of answers until the first of one came from the provider. The next field is the time until its end. */
  readonly firstByte: Latency;
  readonly total: Latency;
}

type Point = Figures & { readonly atMs: number };
type ModelFigures = Figures & {
  /** The model, which is '' for calls that were refused before it was known. */ readonly model: string;
};
type AppFigures = Figures & { readonly appId: AppId };
interface OutcomeFigures {
  readonly outcome: StatsOutcome;
  readonly kind: OutcomeKind;
  readonly calls: number;
}
/** Sums of one API key. Counted in memory: a process that dies loses those of its last second. */
interface KeyFigures {
  readonly keyId: KeyId;
  readonly calls: number;
  readonly chargedCalls: number;
  readonly charged: Micros;
}

export type KeyPoint = Omit<KeyFigures, 'keyId'> & { readonly atMs: number };

/** Reads the sums of calls. Each function is one statement that reads rows of `stats` by an index, and no call. */
export interface Stats {
  /** One point for each hour or day, also those without calls. At most 31 days by hour, and 400 days by day. */
  readonly series: (range: StatsRange & { readonly step: Step }) => Promise<readonly Point[]>;
  /** Reads totals over at most 400 days. The same holds for those below. */
  readonly totals: (range: StatsRange) => Promise<Figures>;
  /** What the calls of an app have done at least once. */
  readonly firsts: (appId: AppId) => Promise<Firsts>;
  /** The models that cost most first, at most a hundred. */
  readonly byModel: (range: StatsRange) => Promise<readonly ModelFigures[]>;
  /** The outcomes of most calls first. */
  readonly byOutcome: (range: StatsRange) => Promise<readonly OutcomeFigures[]>;
  /** The apps that cost most first, at most a hundred. With models: by their calls of these. */
  readonly byApp: (range: StatsRange & { readonly models?: readonly string[] }) => Promise<readonly AppFigures[]>;
  /** Reads models, outcomes and apps in one statement, for pages that show all of them. */
  readonly groups: (range: StatsRange) => Promise<{
    readonly models: readonly ModelFigures[];
    readonly outcomes: readonly OutcomeFigures[];
    readonly apps: readonly AppFigures[];
  }>;
  /** One point for each day, also those without calls, of one key. */
  readonly keySeries: (
    range: StatsTime & { readonly appId: AppId; readonly keyId: KeyId },
  ) => Promise<readonly KeyPoint[]>;
  /** The keys with most calls first, at most a thousand. */
  readonly byKey: (range: StatsTime & { readonly appId: AppId }) => Promise<readonly KeyFigures[]>;
}

const GROUPS_MAX = 100;
const OUTCOMES_MAX = 100;
const KEYS_MAX = 1_000;

export function createStats(db: Queryable): Stats {
  return statsOf(createStatsRows(db));
}

export function statsOf(rowsOf: StatsRows): Stats {
  return {
    series: async ({ step, ...range }) => {
      const query = queryOf(range, step);
      const rows = await rowsOf.series(query, step);
      return pointsOf({ ...query, step }, rows, figuresOf);
    },
    totals: async (range) => figuresOf(await rowsOf.totals(queryOf(range))),
    firsts: (appId) => rowsOf.firsts(appId, [...SERVED, ...PROVIDER_ERRORS, ...FAULTS]),
    byModel: async (range) => {
      const rows = await rowsOf.models(queryOf(range), GROUPS_MAX);
      return rows.map((row) => ({ model: row.name, ...figuresOf(row) }));
    },
    byOutcome: async (range) => {
      const rows = await rowsOf.outcomes(queryOf(range), OUTCOMES_MAX);
      return outcomesOf(rows);
    },
    byApp: async ({ models, ...range }) => {
      const rows = await rowsOf.apps({ ...queryOf(range), models }, GROUPS_MAX);
      return rows.map((row) => ({ appId: row.name, ...figuresOf(row) }));
    },
    groups: async (range) => {
      const rows = await rowsOf.allGroups(queryOf(range), GROUPS_MAX);
      return {
        models: rows.flatMap((row) => (row.by === 'model' ? [{ model: row.name, ...figuresOf(row) }] : [])),
        outcomes: outcomesOf(rows.filter((row) => row.by === 'outcome')),
        apps: rows.flatMap((row) => (row.by === 'app_id' ? [{ appId: row.name, ...figuresOf(row) }] : [])),
      };
    },
    byKey: async ({ appId, ...time }) => {
      const { mode, from, to } = queryOf({ appId, ...time });
      const rows = await rowsOf.keys({ appId, mode, from, to }, KEYS_MAX);
      return rows.map((row) => ({ keyId: row.key_id, ...keyFiguresOf(row) }));
    },
    keySeries: async ({ keyId, ...range }) => {
      const { from, to } = queryOf(range, 'day');
      const rows = await rowsOf.keySeries({ appId: range.appId, mode: range.mode, keyId, from, to });
      return pointsOf({ from, to, step: 'day' }, rows, keyFiguresOf);
    },
  };
}

function outcomesOf(
  rows: readonly { readonly name: StatsOutcome; readonly calls: bigint }[],
): readonly OutcomeFigures[] {
  return rows
    .map(({ name, calls }) => ({ outcome: name, calls: Number(calls) }))
    .filter(({ calls }) => calls > 0)
    .map((row) => ({ ...row, kind: kindOf(row.outcome) }))
    .toSorted((one, other) => other.calls - one.calls);
}

function queryOf(range: StatsRange, step?: Step): SumsQuery {
  const { mode, fromMs, toMs } = range;
  const widthMs = STEP_MS[step ?? 'hour'];
  const from = Math.floor(fromMs / widthMs) * widthMs;
  const to = Math.ceil(toMs / widthMs) * widthMs;
  // A range may begin and end within a step.
  assert(to - from <= RANGE_MS_MAX[step ?? 'day'] + 2 * widthMs, 'a range of statistics is bounded');
  return {
    appIds: 'appId' in range ? [range.appId] : 'appIds' in range ? range.appIds : null,
    mode,
    from: dateOf(from),
    to: dateOf(to),
    providerErrors: PROVIDER_ERRORS,
    served: SERVED,
    faults: FAULTS,
  };
}

/** A point for each step, with the figures of its row if it has one. */
function pointsOf<Row extends { readonly at: Date }, Sums>(
  { from, to, step }: { readonly from: Date; readonly to: Date; readonly step: Step },
  rows: readonly Row[],
  sumsOf: (row: Row | undefined) => Sums,
): (Sums & { readonly atMs: number })[] {
  const byTime = new Map(rows.map((row) => [row.at.getTime(), row]));
  const points: (Sums & { readonly atMs: number })[] = [];
  for (let atMs = from.getTime(); atMs < to.getTime(); atMs += STEP_MS[step]) {
    points.push({ ...sumsOf(byTime.get(atMs)), atMs });
  }
  return points;
}

function keyFiguresOf(row: KeySums | undefined): Omit<KeyFigures, 'keyId'> {
  return {
    calls: Number(row?.calls ?? 0n),
    chargedCalls: Number(row?.charged_calls ?? 0n),
    charged: microsSumFromRow(row?.charged_micros ?? 0n),
  };
}

function figuresOf(row: SumsRow | undefined): Figures {
  const [calls, served, providerErrors, faults] = [row?.calls, row?.served, row?.provider_errors, row?.faults].map(
    (count = 0n) => Number(count),
  ) as [number, number, number, number];
  return {
    calls,
    chargedCalls: Number(row?.charged_calls ?? 0n),
    refusals: calls - served - providerErrors - faults,
    providerErrors,
    faults,
    charged: microsSumFromRow(row?.charged_micros ?? 0n),
    cost: microsSumFromRow(row?.cost_micros ?? 0n),
    uncosted: microsSumFromRow(row?.uncosted_micros ?? 0n),
    promptTokens: Number(row?.prompt_tokens ?? 0n),
    completionTokens: Number(row?.completion_tokens ?? 0n),
    firstByte: latencyOf((row?.first_byte ?? []).map(Number)),
    total: latencyOf((row?.total ?? []).map(Number)),
  };
}
