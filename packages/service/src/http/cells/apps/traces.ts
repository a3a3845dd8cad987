import { z } from 'zod';
import type { EveryCell } from '#http/cells/questions/every-cell.ts';
import type { CellQuestion } from '#http/cells/questions/question.ts';
import {
  appIdSchema,
  bigintSchema,
  callIdSchema,
  correlationIdSchema,
  countSchema,
  listOf,
  maybe,
  modeSchema,
  objectSchema,
  textSchema,
  timeSchema,
  userIdSchema,
} from '#http/cells/questions/schemas.ts';
import type { AppId, CallId } from '#kernel/values/ids.ts';
import type { RecentQuery, RecentRow, TraceOutcome, TraceRow } from '#calls/traces/queries.ts';
import { FOUND_MAX, type TraceRows } from '#calls/traces/traces.ts';

/** All texts of an address, escaped. */
const BYTES_MAX = 131_072;
/** A person waits for a page. */
const WAIT_MS = 5_000;
const PAGE_MAX = 1_000;

const outcomeSchema = z.enum([
  'answered',
  'abandoned',
  'failed',
  'refused',
  'replayed',
]) satisfies z.ZodType<TraceOutcome>;
const traceShape = {
  ended_at: timeSchema,
  app_id: appIdSchema,
  mode: modeSchema,
  user_id: userIdSchema.nullable(),
  correlation_id: z.string(),
  call_id: callIdSchema.nullable(),
  model: z.string().nullable(),
  is_stream: z.boolean(),
  outcome: outcomeSchema,
  status: z.int().nullable(),
  code: z.string().nullable(),
  charged_micros: bigintSchema,
  prompt_tokens: bigintSchema,
  completion_tokens: bigintSchema,
  duration_ms: countSchema,
  failure: objectSchema<NonNullable<TraceRow['failure']>>(),
  // A cell of the version before sends none of these.
  wire: z.string().nullable().default(null),
  session: z.string().nullable().default(null),
  param: z.string().nullable().default(null),
  message: z.string().nullable().default(null),
};
const querySchema: z.ZodType<RecentQuery> = z.object({
  appId: appIdSchema,
  mode: modeSchema,
  userId: maybe(userIdSchema),
  session: maybe(textSchema),
  model: maybe(textSchema),
  outcome: maybe(outcomeSchema),
  code: maybe(textSchema),
  fromMs: maybe(z.number()),
  toMs: maybe(z.number()),
  after: maybe(z.object({ endedMicros: bigintSchema, traceId: bigintSchema })),
});

interface TracesQuery {
  readonly appId: AppId | null;
  readonly callId: CallId | null;
  readonly correlationId: string;
}

/**
 * `POST /cells/traces` asks what became of a call, or of those under a correlation id. Without an app, it asks about
 * all apps.
 */
const TRACES: CellQuestion<TracesQuery, readonly TraceRow[]> = {
  path: '/cells/traces',
  bytesMax: BYTES_MAX,
  waitMs: WAIT_MS,
  asked: z.object({
    appId: appIdSchema.nullable(),
    callId: callIdSchema.nullable(),
    correlationId: z.union([correlationIdSchema, z.literal('')]),
  }),
  answer: listOf(z.object(traceShape)),
};

/** `POST /cells/latest-calls` asks for an app's latest calls in that cell, with the place to which it has read. */
const LATEST: CellQuestion<{ readonly query: RecentQuery; readonly most: number }, readonly RecentRow[]> = {
  path: '/cells/latest-calls',
  bytesMax: BYTES_MAX,
  waitMs: WAIT_MS,
  asked: z.object({ query: querySchema, most: z.int().min(1).max(PAGE_MAX) }),
  answer: listOf(
    z.object({ ...traceShape, trace_id: bigintSchema, ended_micros: bigintSchema, is_found: z.boolean() }),
  ),
};

/** What became of calls in all cells. */
export function tracesEverywhere(local: TraceRows, { reader }: EveryCell): TraceRows {
  const traces = reader(TRACES, ({ appId, callId, correlationId }) =>
    local.find(callId === null ? { correlationId } : { callId }, appId ?? undefined),
  );
  const latest = reader(LATEST, ({ query, most }) => local.recent(query, most));
  return {
    find: async (name, appId) => {
      const asked = 'callId' in name ? { ...name, correlationId: '' } : { ...name, callId: null };
      const rows = (await traces({ appId: appId ?? null, ...asked })).flat();
      return rows.toSorted(byAppAndTime).slice(0, FOUND_MAX);
    },
    recent: async (query, most) => pageOf(await latest({ query, most }), most),
  };
}

function byAppAndTime(one: TraceRow, other: TraceRow): number {
  if (one.app_id !== other.app_id) return one.app_id < other.app_id ? -1 : 1;
  return other.ended_at.getTime() - one.ended_at.getTime();
}

/**
 * The newest rows of all cells. Each cell has read to the place of its last row, unless it has read everything. What is older than the
 * newest of these places may lack rows of that cell, and is for the next page.
 */
function pageOf(cells: readonly (readonly RecentRow[])[], most: number): readonly RecentRow[] {
  const ends = cells.flatMap((rows) => {
    const last = rows.at(-1);
    const isWhole = last === undefined || (last.is_found && rows.length < most);
    return isWhole ? [] : [last];
  });
  const [end] = ends.toSorted(newestFirst);
  const found = cells.flat().filter((row) => row.is_found && (end === undefined || newestFirst(row, end) <= 0));
  const page = found.toSorted(newestFirst).slice(0, most);
  return end === undefined || end.is_found || page.length === most ? page : [...page, end];
}

/** The numbers of two cells mean nothing to each other: they only keep the order the same. */
function newestFirst(one: RecentRow, other: RecentRow): number {
  return Number(other.ended_micros - one.ended_micros) || Number(other.trace_id - one.trace_id);
}
