import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, CallId } from '#kernel/values/ids.ts';
import { type Micros, microsFromRow } from '#kernel/values/micros.ts';
import {
  type NewTrace,
  type RecentQuery,
  type RecentRow,
  selectRecentTraces,
  selectTracesByCall,
  selectTracesByCorrelation,
  type TracePlace,
  type TraceRow,
} from '#calls/traces/queries.ts';

/** What became of one call, as it was kept. Contains nothing of prompts or answers. */
export interface CallTrace extends Omit<NewTrace, 'endedMs' | 'charged'> {
  readonly endedAtMs: number;
  readonly charged: Micros;
}

/** Which calls to find: by one of the two ids of an answer. */
type CallName = { readonly correlationId: string } | { readonly callId: CallId };

/** Finds calls that ended in the last days, refused ones included (CC-19). */
export interface TraceReader {
  /**
   * Finds at most 100 calls, newest first. With `appId`, they are only those of this app; without one, of all apps, one
   * app after the other.
   */
  readonly find: (name: CallName, appId: AppId | undefined) => Promise<readonly CallTrace[]>;
  /** An app's latest calls, newest first. A page may be short, or empty, although there are more: then `next` leads on. */
  readonly recent: (query: Omit<RecentQuery, 'after'>, after: string | undefined, most: number) => Promise<RecentCalls>;
}

interface RecentCalls {
  readonly traces: readonly CallTrace[];
  /** Where the next page begins. It is undefined when there is none. */
  readonly next: string | undefined;
}

export const FOUND_MAX = 100;
/** How many traces one page reads, whether they fit or not. Rare ones are found by going on. */
const SCANNED_MAX = 5_000;

/** Reads traces as a database has them: in one cell, or in all. */
export interface TraceRows {
  /** Finds at most `FOUND_MAX` traces. */
  readonly find: (name: CallName, appId: AppId | undefined) => Promise<readonly TraceRow[]>;
  /** Reads the traces that fit, newest first, and after them the last that was read: see `selectRecentTraces`. */
  readonly recent: (query: RecentQuery, most: number) => Promise<readonly RecentRow[]>;
}

export function createTraceRows(db: Queryable): TraceRows {
  return {
    find: (name, appId) =>
      'callId' in name
        ? selectTracesByCall(db, name.callId, appId, FOUND_MAX)
        : selectTracesByCorrelation(db, name.correlationId, appId, FOUND_MAX),
    recent: (query, most) => selectRecentTraces(db, query, { scanned: SCANNED_MAX, most }),
  };
}

export function createTraceReader(db: Queryable): TraceReader {
  return traceReaderOf(createTraceRows(db));
}

export function traceReaderOf(rowsOf: TraceRows): TraceReader {
  return {
    find: async (name, appId) => (await rowsOf.find(name, appId)).map(traceOf),
    recent: async (query, after, most) => {
      const rows = await rowsOf.recent({ ...query, after: placeOf(after) }, most);
      const last = rows.at(-1);
      const traces = rows.filter(({ is_found: isFound }) => isFound).map(traceOf);
      const isWhole = last === undefined || (traces.length < most && last.is_found);
      return { traces, next: isWhole ? undefined : `${last.ended_micros}.${last.trace_id}` };
    },
  };
}

/** A `next` of our own, or undefined: a text that is none begins at the newest. */
function placeOf(text: string | undefined): TracePlace | undefined {
  const [, endedMicros, traceId] = /^(\d{1,17})\.(\d{1,18})$/.exec(text ?? '') ?? [];
  if (endedMicros === undefined || traceId === undefined) return undefined;
  return { endedMicros: BigInt(endedMicros), traceId: BigInt(traceId) };
}

function traceOf(row: TraceRow): CallTrace {
  return {
    endedAtMs: row.ended_at.getTime(),
    appId: row.app_id,
    mode: row.mode,
    userId: row.user_id ?? undefined,
    correlationId: row.correlation_id,
    callId: row.call_id ?? undefined,
    model: row.model ?? undefined,
    isStream: row.is_stream,
    wire: row.wire ?? undefined,
    session: row.session ?? undefined,
    outcome: row.outcome,
    status: row.status ?? undefined,
    code: row.code ?? undefined,
    param: row.param ?? undefined,
    message: row.message ?? undefined,
    failure: row.failure ?? undefined,
    charged: microsFromRow(row.charged_micros),
    promptTokens: Number(row.prompt_tokens),
    completionTokens: Number(row.completion_tokens),
    durationMs: row.duration_ms,
  };
}
