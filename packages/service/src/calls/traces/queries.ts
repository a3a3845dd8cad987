import { plainArray, textArray } from '#db/records/array-literal.ts';
import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, CallId, EndUserId, Mode } from '#kernel/values/ids.ts';

/** How a call ended: refused before it had a hold, by its settlement, or answered from the kept answer of an earlier one. */
export type TraceOutcome = 'answered' | 'abandoned' | 'failed' | 'refused' | 'replayed';

/** Which upstream failed a call, and how. Only operators see more of it than the kind. */
interface TraceFailure {
  readonly provider: string;
  readonly providerModel: string;
  readonly kind: string;
  /** The provider's HTTP status, if it sent one. */
  readonly status?: number | undefined;
}

/** What became of one call. `endedMs` is by the steady clock: the database's own clock may differ from ours. */
export interface NewTrace {
  readonly endedMs: number;
  readonly appId: AppId;
  readonly mode: Mode;
  /**
   * The user. It is undefined if the call was refused before it was known. The same holds for the call's id and the
   * model.
   */
  readonly userId: EndUserId | undefined;
  readonly correlationId: string;
  readonly callId: CallId | undefined;
  readonly model: string | undefined;
  readonly isStream: boolean;
  /** The wire by which it came. Undefined of calls from before this was kept. */
  readonly wire: string | undefined;
  /** The session that its client named (CP-19). */
  readonly session: string | undefined;
  readonly outcome: TraceOutcome;
  /** The HTTP status. It is undefined if the caller left before there was one. */
  readonly status: number | undefined;
  readonly code: string | undefined;
  /** The field at fault and the message of the answer, of a call that was refused as BAD_REQUEST. Nothing of a prompt is in them. */
  readonly param: string | undefined;
  readonly message: string | undefined;
  readonly failure: TraceFailure | undefined;
  readonly charged: bigint;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly durationMs: number;
}

/** Adds traces, in one statement. `nowMs` is by the clock of their `endedMs`. */
export async function insertTraces(db: Queryable, traces: readonly NewTrace[], nowMs: number): Promise<void> {
  await db.query(
    `insert into traces.calls (ended_at, app_id, mode, user_id, correlation_id, call_id, model, is_stream, outcome, status,
       code, charged_micros, prompt_tokens, completion_tokens, duration_ms, failure, param, message, wire, session)
     select clock_timestamp() - t.ago_ms * interval '1 millisecond', t.app_id, t.mode, t.user_id, t.correlation_id, t.call_id,
       t.model, t.is_stream, t.outcome, t.status, t.code, t.charged_micros, t.prompt_tokens, t.completion_tokens,
       t.duration_ms, t.failure, t.param, t.message, t.wire, t.session
     from unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::text[], $6::uuid[], $7::text[], $8::boolean[],
       $9::text[], $10::smallint[], $11::text[], $12::bigint[], $13::bigint[], $14::bigint[], $15::int[],
       $16::jsonb[], $17::text[], $18::text[], $19::text[], $20::text[])
       as t (ago_ms, app_id, mode, user_id, correlation_id, call_id, model, is_stream, outcome, status, code,
         charged_micros, prompt_tokens, completion_tokens, duration_ms, failure, param, message, wire, session)`,
    [
      plainArray(traces.map(({ endedMs }) => Math.round(nowMs - endedMs))),
      textArray(traces.map(({ appId }) => appId)),
      plainArray(traces.map(({ mode }) => mode)),
      textArray(traces.map(({ userId }) => userId)),
      textArray(traces.map(({ correlationId }) => correlationId)),
      plainArray(traces.map(({ callId }) => callId)),
      textArray(traces.map(({ model }) => model)),
      plainArray(traces.map(({ isStream }) => isStream)),
      plainArray(traces.map(({ outcome }) => outcome)),
      plainArray(traces.map(({ status }) => status)),
      plainArray(traces.map(({ code }) => code)),
      plainArray(traces.map(({ charged }) => charged)),
      plainArray(traces.map(({ promptTokens }) => promptTokens)),
      plainArray(traces.map(({ completionTokens }) => completionTokens)),
      plainArray(traces.map(({ durationMs }) => durationMs)),
      textArray(traces.map(({ failure }) => failure && JSON.stringify(failure))),
      textArray(traces.map(({ param }) => param)),
      textArray(traces.map(({ message }) => message)),
      textArray(traces.map(({ wire }) => wire)),
      textArray(traces.map(({ session }) => session)),
    ],
  );
}

/** Deletes the oldest traces if they ended more than `keptMs` ago, at most `most`. Returns how many it deleted. */
export async function deleteOldTraces(db: Queryable, keptMs: number, most: number): Promise<number> {
  const { rowCount } = await db.query(
    // Looks at the oldest only: a search by time would read the whole table whenever nothing in it is old enough.
    `delete from traces.calls where trace_id = any (array(
       select trace_id from (select trace_id, ended_at from traces.calls order by trace_id limit $2) as oldest
       where ended_at < clock_timestamp() - $1 * interval '1 millisecond'))`,
    [keptMs, most],
  );
  return rowCount ?? 0;
}

export interface TraceRow {
  readonly ended_at: Date;
  readonly app_id: AppId;
  readonly mode: Mode;
  readonly user_id: EndUserId | null;
  readonly correlation_id: string;
  readonly call_id: CallId | null;
  readonly model: string | null;
  readonly is_stream: boolean;
  readonly outcome: TraceOutcome;
  readonly status: number | null;
  readonly code: string | null;
  readonly charged_micros: bigint;
  readonly prompt_tokens: bigint;
  readonly completion_tokens: bigint;
  readonly duration_ms: number;
  readonly failure: TraceFailure | null;
  readonly wire: string | null;
  readonly session: string | null;
  readonly param: string | null;
  readonly message: string | null;
}

const COLUMNS = `ended_at, app_id, mode, user_id, correlation_id, call_id, model, is_stream, outcome, status, code,
  charged_micros, prompt_tokens, completion_tokens, duration_ms, failure, param, message, wire, session`;

/** Finds the traces under a correlation id, of one app, newest first; or of all apps, by app and then newest first. */
export async function selectTracesByCorrelation(
  db: Queryable,
  correlationId: string,
  appId: AppId | undefined,
  most: number,
): Promise<readonly TraceRow[]> {
  const { rows } = await db.query<TraceRow>(
    `select ${COLUMNS} from traces.calls
     where correlation_id = $1 and ($2::text is null or app_id = $2)
     order by app_id, trace_id desc limit $3`,
    [correlationId, appId ?? null, most],
  );
  return rows;
}

/** Finds the traces of a call: its own, and those of its replays, newest first. */
export async function selectTracesByCall(
  db: Queryable,
  callId: CallId,
  appId: AppId | undefined,
  most: number,
): Promise<readonly TraceRow[]> {
  const { rows } = await db.query<TraceRow>(
    `select ${COLUMNS} from traces.calls
     where call_id = $1 and ($2::text is null or app_id = $2)
     order by trace_id desc limit $3`,
    [callId, appId ?? null, most],
  );
  return rows;
}

/** Which of an app's calls to list. Undefined fields narrow nothing down. */
export interface RecentQuery {
  readonly appId: AppId;
  readonly mode: Mode;
  readonly userId: EndUserId | undefined;
  readonly session: string | undefined;
  readonly model: string | undefined;
  readonly outcome: TraceOutcome | undefined;
  readonly code: string | undefined;
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
  /** The place of the last trace of the page before. */
  readonly after: TracePlace | undefined;
}

/** A place in the list: the end of a trace in microseconds since 1970, and its number. */
export interface TracePlace {
  readonly endedMicros: bigint;
  readonly traceId: bigint;
}

export interface RecentRow extends TraceRow {
  readonly trace_id: bigint;
  readonly ended_micros: bigint;
  readonly is_found: boolean;
}

/**
 * Reads the next `scanned` traces of an app by their index, newest first. Gives those that fit (`is_found`), at most `most`. If there are fewer,
 * and there may be more further on, the place to which it has read follows: the next page begins there. Nothing when there are no more.
 */
export async function selectRecentTraces(
  db: Queryable,
  { appId, mode, userId, session, model, outcome, code, fromMs, toMs, after }: RecentQuery,
  { scanned, most }: { readonly scanned: number; readonly most: number },
): Promise<readonly RecentRow[]> {
  const { rows } = await db.query<RecentRow>(
    `with recent as materialized (
       select ${COLUMNS}, trace_id, (extract(epoch from ended_at) * 1000000)::bigint as ended_micros,
         ($3::text is null or user_id = $3) and ($4::text is null or model = $4) and ($5::text is null or outcome = $5)
           and ($6::text is null or code = $6) and ($13::text is null or session = $13) as is_found
       from traces.calls
       where app_id = $1 and mode = $2
         and ended_at >= coalesce(to_timestamp($7::float8 / 1000), '-infinity')
         and ended_at < coalesce(to_timestamp($8::float8 / 1000), 'infinity')
         and (ended_at, trace_id) < (coalesce(timestamptz 'epoch' + $9::bigint * interval '1 microsecond', 'infinity'),
           coalesce($10::bigint, 9223372036854775807))
       order by ended_at desc, trace_id desc limit $11
     ), found as (
       select * from recent where is_found order by ended_at desc, trace_id desc limit $12
     ), last as (
       select ${COLUMNS}, trace_id, ended_micros, false as is_found
       from (select * from recent order by ended_at, trace_id limit 1) r
       where (select count(*) from found) < $12 and (not r.is_found or (select count(*) from recent) = $11)
     )
     select * from found
     union all
     select * from last
     order by ended_micros desc, trace_id desc, is_found desc`,
    [
      appId,
      mode,
      userId ?? null,
      model ?? null,
      outcome ?? null,
      code ?? null,
      fromMs ?? null,
      toMs ?? null,
      after?.endedMicros ?? null,
      after?.traceId ?? null,
      scanned,
      most,
      session ?? null,
    ],
  );
  return rows;
}
