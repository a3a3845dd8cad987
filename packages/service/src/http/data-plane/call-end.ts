import type { CallNotes } from '#gateway/call/call-notes.ts';
import { msBetween } from '#gateway/call/call-times.ts';
import { countTimes } from '#http/data-plane/call-metrics.ts';
import type { Exchange } from '#http/respond.ts';
import { steadyClock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { microsToWire, ZERO_MICROS } from '#kernel/micros.ts';
import type { CallCounts } from '#stats/call-counts.ts';
import type { StatsOutcome } from '#stats/outcome.ts';
import type { TraceOutcome } from '#traces/queries.ts';
import type { TraceWriter } from '#traces/trace-writer.ts';

export type EndCall = (exchange: Exchange, notes: CallNotes) => void;

interface CallEndParts {
  readonly log: Log;
  readonly traces: TraceWriter;
  readonly counts: CallCounts;
}

/**
 * Ends every chat call, however it ended: one log line and its times for the metrics, and if its app is known, one trace (CC-19) and its part of the sums. A refusal for an unknown
 * key has a line only, so that nobody without a key writes to the database. So has a live call that was answered: its
 * receipt is found by the same ids, and a second row would cost the database half as much again as the call itself.
 */
export function createCallEnd({ log, traces, counts }: CallEndParts): EndCall {
  return ({ response, correlationId }, notes) => {
    const { caller, userId, callId, model, isStream, code, failure, served, charged, promptTokens, completionTokens } =
      notes;
    const { times } = notes;
    const endedMs = steadyClock.nowMs();
    times.doneMs = endedMs;
    const durationMs = Math.round(endedMs - times.startMs);
    const outcome = outcomeOf(notes);
    countTimes(notes, outcome);
    const status = response.headersSent ? response.statusCode : undefined; // Without a head, the caller left first.
    // No user: the name that an app gives to a person may be an e-mail address. The trace has it. Both objects are written
    // out, because this runs for every call, and copying one into the other costs more.
    log.info(
      {
        correlationId,
        callId,
        appId: caller?.app.appId,
        mode: caller?.mode,
        model,
        stream: isStream,
        outcome,
        status,
        code,
        failure: failure?.kind,
        upstream: failure === undefined ? servedBy(served) : upstreamOf(failure),
        tries: served === undefined || served.tries === 0 ? undefined : served.tries,
        chargedMicros: microsToWire(charged),
        promptTokens,
        completionTokens,
        durationMs,
      },
      'call',
    );
    if (caller === undefined) return;
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
      outcome,
      status,
      code,
      failure,
      charged,
      promptTokens,
      completionTokens,
      durationMs,
    });
  };
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
