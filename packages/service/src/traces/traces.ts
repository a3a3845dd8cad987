import type { Queryable } from '#db/pool.ts';
import type { AppId, CallId } from '#kernel/ids.ts';
import { type Micros, microsFromRow } from '#kernel/micros.ts';
import { type NewTrace, selectTracesByCall, selectTracesByCorrelation, type TraceRow } from '#traces/queries.ts';

/** What became of one call, as it was kept. Contains nothing of prompts or answers. */
export interface CallTrace extends Omit<NewTrace, 'endedMs' | 'charged'> {
  readonly endedAtMs: number;
  readonly charged: Micros;
}

/** Which calls to find: by one of the two ids of an answer. */
type CallName = { readonly correlationId: string } | { readonly callId: CallId };

/** Finds calls that ended in the last days, refused ones included (CC-19). */
export interface TraceReader {
  /** At most 100, newest first. `appId`: only this app's; undefined: all apps', one app after the other. */
  readonly find: (name: CallName, appId: AppId | undefined) => Promise<readonly CallTrace[]>;
}

const FOUND_MAX = 100;

export function createTraceReader(db: Queryable): TraceReader {
  return {
    find: async (name, appId) => {
      const rows =
        'callId' in name
          ? await selectTracesByCall(db, name.callId, appId, FOUND_MAX)
          : await selectTracesByCorrelation(db, name.correlationId, appId, FOUND_MAX);
      return rows.map(traceOf);
    },
  };
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
    outcome: row.outcome,
    status: row.status ?? undefined,
    code: row.code ?? undefined,
    failure: row.failure ?? undefined,
    charged: microsFromRow(row.charged_micros),
    promptTokens: Number(row.prompt_tokens),
    completionTokens: Number(row.completion_tokens),
    durationMs: row.duration_ms,
  };
}
