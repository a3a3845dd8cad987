import { type CallNotes, msBetween } from '#gateway/call/call-notes.ts';
import type { Exchange } from '#http/answers/respond.ts';
import { catalogueTimings } from '#kernel/metrics/catalogue-metrics.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import type { CorrelationId } from '#kernel/values/ids.ts';
import type { Log } from '#kernel/log.ts';
import { microsToWire, ZERO_MICROS } from '#kernel/values/micros.ts';
import type { CallCounts } from '#calls/stats/call-counts.ts';
import type { StatsOutcome } from '#calls/stats/outcome.ts';
import type { TraceOutcome } from '#calls/traces/queries.ts';
import type { TraceWriter } from '#calls/traces/writer.ts';

/** The longest message of ours lists all parameters, in half as many. */
const MESSAGE_CHARACTERS_MAX = 2_000;

export type EndCall = (exchange: Exchange, notes: CallNotes) => void;

interface ExportedCall {
  readonly notes: CallNotes;
  readonly correlationId: CorrelationId;
  readonly status: number | undefined;
  readonly outcome: TraceOutcome;
}

interface CallEndParts {
  readonly log: Log;
  readonly traces: TraceWriter;
  readonly counts: CallCounts;
  /** Exports the call as a trace of OpenTelemetry. Undefined if the operator collects none. */
  readonly exportCall: ((call: ExportedCall) => void) | undefined;
  /** Of this many answered calls, one has a line. */
  readonly oneIn: number;
  /** Returns a random number from 0 to below 1. */
  readonly random: () => number;
}

/**
 * Ends every chat call, however it ended: its times for the metrics, one log line, and if its app is known, one trace (CC-19) and its part of the sums. A refusal for an unknown
 * key has a line only, so that nobody without a key writes to the database. So has a live call that was answered: its
 * receipt is found by the same ids, and a second row would cost the database half as much again as the call itself.
 * With `oneIn`, answered calls have a line by chance; all others always have one.
 */
export function createCallEnd({ log, traces, counts, exportCall, oneIn, random }: CallEndParts): EndCall {
  return (exchange, notes) => {
    const { response, correlationId } = exchange;
    const { times, caller, userId, callId, model, isStream, code, badRequest } = notes;
    const { failure, charged, promptTokens, completionTokens } = notes;
    const endedMs = steadyClock.nowMs();
    times.doneMs = endedMs;
    const durationMs = Math.round(endedMs - times.startMs);
    const outcome = outcomeOf(notes);
    countTimes(notes, outcome);
    const status = response.headersSent ? response.statusCode : undefined; // Without a head, the caller left first.
    const isSampled = oneIn > 1 && outcome === 'answered';
    if (!isSampled || random() * oneIn < 1) {
      writeLine(log, exchange, notes, { outcome, status, durationMs, oneIn: isSampled ? oneIn : undefined });
    }
    if (caller === undefined) return;
    exportCall?.({ notes, correlationId, status, outcome });
    const { keyId, mode } = caller;
    const { appId } = caller.app;
    counts.note({
      appId,
      keyId,
      mode,
      model,
      outcome: statsOutcomeOf(notes),
      charged,
      promptTokens,
      completionTokens,
      firstByteMs: outcome === 'answered' ? msBetween(times.startMs, times.firstByteMs) : undefined,
      totalMs: outcome === 'answered' ? durationMs : undefined,
    });
    if (mode === 'live' && outcome === 'answered' && !traces.hasRoomForAnswered(appId)) return;
    traces.note({
      endedMs,
      appId,
      mode,
      userId,
      correlationId,
      callId,
      model,
      isStream,
      wire: notes.wire.name,
      session: notes.session?.name,
      outcome,
      status,
      code,
      param: badRequest?.detail.param,
      message: badRequest?.message.slice(0, MESSAGE_CHARACTERS_MAX),
      failure,
      charged,
      promptTokens,
      completionTokens,
      durationMs,
    });
  };
}

interface EndOfCall {
  readonly outcome: TraceOutcome;
  readonly status: number | undefined;
  readonly durationMs: number;
  /** How many calls the line stands for. If it is undefined, the line stands for its own call only. */
  readonly oneIn: number | undefined;
}

/**
 * Writes the line of a call. It has no user: the name that an app gives to a person may be an e-mail address. The trace has it. The object is
 * written out, because this runs for every call, and copying one into the other costs more.
 */
function writeLine(log: Log, { request, correlationId }: Exchange, notes: CallNotes, end: EndOfCall): void {
  const { times, caller, served, failure } = notes;
  log.info(
    {
      correlationId,
      traceId: notes.span?.traceId,
      callId: notes.callId,
      appId: caller?.app.appId,
      mode: caller?.mode,
      model: notes.model,
      stream: notes.isStream,
      outcome: end.outcome,
      method: request.method === 'POST' ? undefined : request.method,
      path: notes.wire.path,
      status: end.status,
      code: notes.code,
      failure: failure?.kind,
      upstream: failure === undefined ? servedBy(served) : upstreamOf(failure),
      tries: served === undefined || served.tries === 0 ? undefined : served.tries,
      chargedMicros: microsToWire(notes.charged),
      promptTokens: notes.promptTokens,
      completionTokens: notes.completionTokens,
      holdMs: rounded(msBetween(times.admittedMs, times.heldMs)),
      firstByteMs: rounded(msBetween(times.startMs, times.firstByteMs)),
      settleMs: rounded(msBetween(times.endedMs, times.settledMs)),
      durationMs: end.durationMs,
      oneIn: end.oneIn,
    },
    'call',
  );
}

/** Rounds to a tenth, because a hold takes about a millisecond. */
function rounded(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms * 10) / 10;
}

/** The upstream that failed a call, for the operator. */
function upstreamOf({ provider, providerModel, status }: NonNullable<CallNotes['failure']>): object {
  return { provider, providerModel, status: status ?? null };
}

/** The upstream that served a call, or would have. */
function servedBy(served: CallNotes['served']): object | undefined {
  if (served === undefined || served.tries === 0) return undefined;
  const { providerName: provider, providerModel } = served.upstream;
  return { provider, providerModel };
}

function outcomeOf({ outcome, isReplay, code }: CallNotes): TraceOutcome {
  if (outcome !== undefined) return outcome;
  if (isReplay) return 'replayed';
  if (code === 'INTERNAL_SERVER_ERROR') return 'failed';
  return code === undefined ? 'abandoned' : 'refused';
}

function statsOutcomeOf({ charged, isReplay, code, outcome }: CallNotes): StatsOutcome {
  if (charged > ZERO_MICROS) return 'charged';
  if (isReplay) return 'replayed';
  return code ?? (outcome === 'answered' ? 'free' : 'abandoned');
}

/** What models take, in seconds: from an answer out of a cache to a long stream. */
const MODEL_BOUNDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
/** What the database takes, in seconds. A statement has at most five. */
const LEDGER_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** The places of these timings in the list below. */
const [TOTAL, FIRST_BYTE, HOLD, SETTLE] = [0, 1, 2, 3] as const;

const timings = catalogueTimings(
  [
    {
      name: 'purser_call_seconds',
      help: 'How long calls took, from the head of the request to the end of the answer.',
      bounds: MODEL_BOUNDS,
    },
    {
      name: 'purser_call_first_byte_seconds',
      help: 'How long streamed calls took until the first of the answer came from the provider.',
      bounds: MODEL_BOUNDS,
    },
    {
      name: 'purser_hold_seconds',
      help: 'How long it took to place the hold of a call.',
      bounds: LEDGER_BOUNDS,
    },
    {
      name: 'purser_settle_seconds',
      help: 'How long it took to settle a call, or to put its settlement on disk.',
      bounds: LEDGER_BOUNDS,
    },
  ],
  { names: ['model', 'provider'], fixed: ['outcome', 'mode'] },
);

/**
 * Counts how long the steps of a call took. `other` stands for a model that is not in the catalogue, and `none` for a provider that was
 * not asked: no text of the caller becomes a label.
 */
function countTimes(notes: CallNotes, outcome: TraceOutcome): void {
  const { served, failure, times } = notes;
  const { startMs, admittedMs, heldMs, firstByteMs, endedMs, settledMs, doneMs } = times;
  const asked = served === undefined || served.tries === 0 ? 'none' : served.upstream.providerName;
  const provider = failure?.provider ?? asked;
  // Not taken apart as a list: that makes an iterator for every call.
  const buckets = timings.of(notes.model ?? 'other', provider, outcome, notes.caller?.mode ?? 'none');
  buckets[TOTAL]?.observe((doneMs - startMs) / 1_000);
  if (firstByteMs > 0) buckets[FIRST_BYTE]?.observe((firstByteMs - startMs) / 1_000);
  if (heldMs > 0) buckets[HOLD]?.observe((heldMs - admittedMs) / 1_000);
  if (settledMs > 0 && endedMs > 0) buckets[SETTLE]?.observe((settledMs - endedMs) / 1_000);
}
