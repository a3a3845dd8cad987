import { plainArray, textArray } from '#db/records/array-literal.ts';
import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, KeyId, Mode } from '#kernel/values/ids.ts';
import { BUCKETS } from '#calls/stats/latency.ts';
import type { StatsOutcome } from '#calls/stats/outcome.ts';

/** Calls of one group that ended within a few minutes. Charged live calls have latencies only: receipts bring the rest. */
export interface CallSum {
  readonly appId: AppId;
  readonly mode: Mode;
  readonly model: string;
  readonly outcome: StatsOutcome;
  calls: number;
  charged: bigint;
  promptTokens: number;
  completionTokens: number;
  /** The counts of the buckets. It is undefined if no call of the group was answered. */
  firstByte: number[] | undefined;
  total: number[] | undefined;
}

/** Calls with one API key. */
export interface KeySum {
  readonly appId: AppId;
  readonly mode: Mode;
  readonly keyId: KeyId;
  calls: number;
  chargedCalls: number;
  charged: bigint;
}

/** Sums of calls, and the same calls by key. No two sums may be of one group. */
interface NewSums {
  readonly calls: readonly CallSum[];
  readonly keys: readonly KeySum[];
}

/**
 * Adds sums of calls that ended `agoMs` ago, in one statement. They are in the order of the tables' keys, so that processes
 * which write the same rows wait for each other and never in a circle.
 */
export async function addSums(db: Queryable, { calls, keys }: NewSums, agoMs: number): Promise<void> {
  await db.query(
    `with ended as (
       select date_trunc('hour', clock_timestamp() - $1 * interval '1 millisecond', 'UTC') as hour
     ), by_key as (
       insert into stats.keys as k (app_id, mode, hour, key_id, calls, charged_calls, charged_micros)
       select s.app_id, s.mode, e.hour, s.key_id, s.calls, s.charged_calls, s.charged_micros
       from ended e, unnest($12::text[], $13::text[], $14::text[], $15::bigint[], $16::bigint[], $17::bigint[])
         as s (app_id, mode, key_id, calls, charged_calls, charged_micros)
       on conflict (app_id, mode, hour, key_id) do update set
         calls = k.calls + excluded.calls,
         charged_calls = k.charged_calls + excluded.charged_calls,
         charged_micros = k.charged_micros + excluded.charged_micros
     )
     insert into stats.hours as h (app_id, mode, hour, model, outcome, calls, charged_micros, prompt_tokens,
       completion_tokens, first_byte, total)
     select s.app_id, s.mode, e.hour, s.model, s.outcome, s.calls, s.charged_micros, s.prompt_tokens, s.completion_tokens,
       s.first_byte::bigint[], s.total::bigint[]
     from ended e, unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[],
       $9::bigint[], $10::text[], $11::text[])
       as s (app_id, mode, model, outcome, calls, charged_micros, prompt_tokens, completion_tokens, first_byte, total)
     on conflict (app_id, mode, hour, model, outcome) do update set
       calls = h.calls + excluded.calls,
       charged_micros = h.charged_micros + excluded.charged_micros,
       prompt_tokens = h.prompt_tokens + excluded.prompt_tokens,
       completion_tokens = h.completion_tokens + excluded.completion_tokens,
       first_byte = stats.add(h.first_byte, excluded.first_byte),
       total = stats.add(h.total, excluded.total)`,
    [
      agoMs,
      textArray(calls.map(({ appId }) => appId)),
      plainArray(calls.map(({ mode }) => mode)),
      textArray(calls.map(({ model }) => model)),
      plainArray(calls.map(({ outcome }) => outcome)),
      plainArray(calls.map((sum) => sum.calls)),
      plainArray(calls.map(({ charged }) => charged)),
      plainArray(calls.map(({ promptTokens }) => promptTokens)),
      plainArray(calls.map(({ completionTokens }) => completionTokens)),
      textArray(calls.map(({ firstByte }) => firstByte && plainArray(firstByte))),
      textArray(calls.map(({ total }) => total && plainArray(total))),
      textArray(keys.map(({ appId }) => appId)),
      plainArray(keys.map(({ mode }) => mode)),
      textArray(keys.map(({ keyId }) => keyId)),
      plainArray(keys.map((sum) => sum.calls)),
      plainArray(keys.map(({ chargedCalls }) => chargedCalls)),
      plainArray(keys.map(({ charged }) => charged)),
    ],
  );
}

/** Which rows to sum. */
export interface SumsQuery {
  /** The apps whose calls are read. If it is null, they are all apps. */
  readonly appIds: readonly AppId[] | null;
  readonly mode: Mode;
  /** The range in whole hours. `to` is exclusive. */
  readonly from: Date;
  readonly to: Date;
  readonly providerErrors: readonly StatsOutcome[];
  readonly served: readonly StatsOutcome[];
  readonly faults: readonly StatsOutcome[];
  /** The models whose calls are read. If it is undefined, they are all models. Groups heed it. */
  readonly models?: readonly string[] | undefined;
}

export interface SumsRow {
  readonly calls: bigint;
  readonly charged_calls: bigint;
  readonly provider_errors: bigint;
  readonly faults: bigint;
  readonly served: bigint;
  readonly charged_micros: bigint;
  readonly cost_micros: bigint;
  /** The micros charged in rows whose cost is not known. */
  readonly uncosted_micros: bigint;
  readonly prompt_tokens: bigint;
  readonly completion_tokens: bigint;
  /** The counts of the buckets, as the driver reads arrays. They stay far below 2^53. */
  readonly first_byte: readonly (number | string)[];
  readonly total: readonly (number | string)[];
}

const bucketSums = (column: string): string =>
  `array[${Array.from({ length: BUCKETS }, (_, bucket) => `coalesce(sum(h.${column}[${bucket + 1}]), 0)::bigint`).join(', ')}]`;

/** The sums of a group of rows, after what they are grouped by. */
const SUMS = `coalesce(sum(h.calls), 0)::bigint as calls,
  coalesce(sum(h.calls) filter (where h.outcome = 'charged'), 0)::bigint as charged_calls,
  coalesce(sum(h.calls) filter (where h.outcome = any ($5::text[])), 0)::bigint as provider_errors,
  coalesce(sum(h.calls) filter (where h.outcome = any ($6::text[])), 0)::bigint as served,
  coalesce(sum(h.calls) filter (where h.outcome = any ($7::text[])), 0)::bigint as faults,
  coalesce(sum(h.charged_micros), 0)::bigint as charged_micros,
  coalesce(sum(h.cost_micros), 0)::bigint as cost_micros,
  coalesce(sum(h.charged_micros) filter (where h.cost_micros is null), 0)::bigint as uncosted_micros,
  coalesce(sum(h.prompt_tokens), 0)::bigint as prompt_tokens,
  coalesce(sum(h.completion_tokens), 0)::bigint as completion_tokens,
  ${bucketSums('first_byte')} as first_byte, ${bucketSums('total')} as total`;
/** The statement is planned with its values, so that it uses the index by app, or that by hour. */
const ROWS = `stats.hours h
  where ($1::text[] is null or h.app_id = any ($1)) and h.mode = $2 and h.hour >= $3 and h.hour < $4`;

function valuesOf({ appIds, mode, from, to, providerErrors, served, faults }: SumsQuery): unknown[] {
  return [appIds, mode, from, to, providerErrors, served, faults];
}

/** Everything in one row. */
export async function selectTotals(db: Queryable, query: SumsQuery): Promise<SumsRow | undefined> {
  const { rows } = await db.query<SumsRow>(`select ${SUMS} from ${ROWS}`, valuesOf(query));
  return rows[0];
}

export interface Firsts {
  readonly played: boolean;
  /** Tells whether the app was refused a call in the sandbox. */
  readonly refused: boolean;
  /** Tells whether the app was charged for a call with real money. */
  readonly charged: boolean;
}

/** Reads rows of the app until it finds each. `notRefused`: every outcome that is no refusal. */
export async function selectFirsts(db: Queryable, appId: AppId, notRefused: readonly StatsOutcome[]): Promise<Firsts> {
  const { rows } = await db.query<Firsts>(
    `select exists (select from stats.hours where app_id = $1 and mode = 'sandbox' and calls > 0) as played,
       exists (select from stats.hours where app_id = $1 and mode = 'sandbox' and calls > 0 and outcome <> all ($2::text[])) as refused,
       exists (select from stats.hours where app_id = $1 and mode = 'live' and calls > 0 and outcome = 'charged') as charged`,
    [appId, notRefused],
  );
  return rows[0] ?? { played: false, refused: false, charged: false };
}

/** One row for each hour or day that has any calls, in their order. */
export async function selectSeries(
  db: Queryable,
  query: SumsQuery,
  step: 'hour' | 'day',
): Promise<readonly (SumsRow & { readonly at: Date })[]> {
  const { rows } = await db.query<SumsRow & { at: Date }>(
    `select date_trunc($8, h.hour, 'UTC') as at, ${SUMS} from ${ROWS} group by 1 order by 1`,
    [...valuesOf(query), step],
  );
  return rows;
}

/** What rows may be grouped by. */
interface GroupNames {
  readonly model: string;
  readonly outcome: StatsOutcome;
  readonly app_id: AppId;
}

export type GroupRow<By extends keyof GroupNames> = SumsRow & { readonly name: GroupNames[By] };
export type NamedGroupRow = { [By in keyof GroupNames]: GroupRow<By> & { readonly by: By } }[keyof GroupNames];

/** One row for each of `most` models, apps or outcomes: first those that cost most, then those with most calls. */
export async function selectGroups<By extends keyof GroupNames>(
  db: Queryable,
  query: SumsQuery,
  by: By,
  most: number,
): Promise<readonly GroupRow<By>[]> {
  const { rows } = await db.query<GroupRow<By>>(
    `select h.${by} as name, ${SUMS} from ${ROWS} and ($9::text[] is null or h.model = any ($9))
     group by 1 order by sum(h.charged_micros) desc, sum(h.calls) desc, 1 limit $8`,
    [...valuesOf(query), most, query.models ?? null],
  );
  return rows;
}

/** The same three ways at once, reading the rows once: `most` of each. */
export async function selectAllGroups(
  db: Queryable,
  query: SumsQuery,
  most: number,
): Promise<readonly NamedGroupRow[]> {
  const { rows } = await db.query<NamedGroupRow>(
    `select * from (
       select g.*, row_number() over (partition by g.by order by g.charged_micros desc, g.calls desc, g.name) as place
       from (
         select case when grouping(h.model) = 0 then 'model' when grouping(h.outcome) = 0 then 'outcome' else 'app_id' end as by,
           coalesce(h.model, h.outcome, h.app_id) as name, ${SUMS} from ${ROWS}
         group by grouping sets ((h.model), (h.outcome), (h.app_id))
       ) g
     ) r where r.place <= $8 order by r.by, r.place`,
    [...valuesOf(query), most],
  );
  return rows;
}
