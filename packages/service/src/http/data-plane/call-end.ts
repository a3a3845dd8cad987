import type { CallNotes } from '#gateway/call/call-notes.ts';
import type { Exchange } from '#http/respond.ts';
import { steadyClock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { microsToWire } from '#kernel/micros.ts';
import type { TraceOutcome } from '#traces/queries.ts';
import type { TraceWriter } from '#traces/trace-writer.ts';

export type EndCall = (exchange: Exchange, notes: CallNotes) => void;

/**
 * Ends every chat call, however it ended: one log line, and one trace if its app is known (CC-19). A refusal for an unknown
 * key has a line only, so that nobody without a key writes to the database. Of the live calls that were answered, some have a
 * trace: their receipts are found by the same ids, and a second row for each would cost the database half as much again.
 */
export function createCallEnd({ log, traces }: { readonly log: Log; readonly traces: TraceWriter }): EndCall {
  return ({ response, correlationId }, notes) => {
    const { caller, userId, callId, model, isStream, code, failure, served, charged, promptTokens, completionTokens } =
      notes;
    const endedMs = steadyClock.nowMs();
    const durationMs = Math.round(endedMs - notes.begunMs);
    const outcome = outcomeOf(notes);
    const status = response.headersSent ? response.statusCode : undefined; // Without a head, the caller left first.
    const appId = caller?.app.appId;
    const mode = caller?.mode;
    // No user: the name that an app gives to a person may be an e-mail address. The trace has it. Both objects are written
    // out, because this runs for every call, and copying one into the other costs more.
    log.info(
      {
        correlationId,
        callId,
        appId,
        mode,
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
    if (appId === undefined || mode === undefined) return;
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
