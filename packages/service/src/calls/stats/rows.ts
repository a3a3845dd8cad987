import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, KeyId, Mode } from '#kernel/values/ids.ts';
import { type KeyRow, type KeySums, selectKeySeries, selectKeySums } from '#calls/stats/key-queries.ts';
import type { StatsOutcome } from '#calls/stats/outcome.ts';
import {
  type Firsts,
  type GroupRow,
  type NamedGroupRow,
  selectAllGroups,
  selectFirsts,
  selectGroups,
  selectSeries,
  selectTotals,
  type SumsQuery,
  type SumsRow,
} from '#calls/stats/queries.ts';
import type { Step } from '#calls/stats/range.ts';

/** The calls with the keys of an app, in whole hours. `to` is exclusive. */
interface KeysQuery {
  readonly appId: AppId;
  readonly mode: Mode;
  readonly from: Date;
  readonly to: Date;
}

/** Reads sums of calls as a database has them: in one cell, or added up over all. */
export interface StatsRows {
  /** Reads the totals. Returns undefined if there are none. */
  readonly totals: (query: SumsQuery) => Promise<SumsRow | undefined>;
  /** Reads the sums in the order of time. Hours and days without calls are left out. */
  readonly series: (query: SumsQuery, step: Step) => Promise<readonly (SumsRow & { readonly at: Date })[]>;
  /** Lists models, those that cost most first, at most `most`. */
  readonly models: (query: SumsQuery, most: number) => Promise<readonly GroupRow<'model'>[]>;
  readonly outcomes: (query: SumsQuery, most: number) => Promise<readonly GroupRow<'outcome'>[]>;
  readonly apps: (query: SumsQuery, most: number) => Promise<readonly GroupRow<'app_id'>[]>;
  /** Reads the groups of every kind, `most` of each. */
  readonly allGroups: (query: SumsQuery, most: number) => Promise<readonly NamedGroupRow[]>;
  readonly firsts: (appId: AppId, notRefused: readonly StatsOutcome[]) => Promise<Firsts>;
  /** The most used first. */
  readonly keys: (query: KeysQuery, most: number) => Promise<readonly KeyRow[]>;
  readonly keySeries: (
    query: KeysQuery & { readonly keyId: KeyId },
  ) => Promise<readonly (KeySums & { readonly at: Date })[]>;
}

/** Each is one statement. */
export function createStatsRows(db: Queryable): StatsRows {
  return {
    totals: (query) => selectTotals(db, query),
    series: (query, step) => selectSeries(db, query, step),
    models: (query, most) => selectGroups(db, query, 'model', most),
    outcomes: (query, most) => selectGroups(db, query, 'outcome', most),
    apps: (query, most) => selectGroups(db, query, 'app_id', most),
    allGroups: (query, most) => selectAllGroups(db, query, most),
    firsts: (appId, notRefused) => selectFirsts(db, appId, notRefused),
    keys: (query, most) => selectKeySums(db, query, most),
    keySeries: (query) => selectKeySeries(db, query),
  };
}
