import type { BeginSpan } from '#gateway/call/call-span.ts';
import { steadyClock, systemClock } from '#kernel/time/clock.ts';
import type { Log } from '#kernel/log.ts';
import { type EndedCall, spansOf } from '#telemetry/call-spans.ts';
import { encode, type Origin, spansToWire, tracesRequest } from '#telemetry/otlp.ts';
import { createOtlpSender } from '#telemetry/otlp-sender.ts';
import type { OtlpTarget, Sampler } from '#telemetry/settings.ts';
import { createSpanQueue } from '#telemetry/span-queue.ts';
import { createBeginSpan } from '#telemetry/trace-context.ts';

/** Exports a trace of each call by OTLP. */
export interface CallExport {
  readonly begin: BeginSpan;
  /** Is called once for each call that has a span, when the call is over. */
  readonly end: (call: EndedCall) => void;
  readonly stop: () => Promise<void>;
}

interface CallExportOptions {
  readonly target: OtlpTarget;
  readonly sampler: Sampler;
  readonly everyMs: number;
  readonly origin: Origin;
  readonly log: Log;
}

export function startCallExport({ target, sampler, everyMs, origin, log }: CallExportOptions): CallExport {
  const queue = createSpanQueue({
    sender: createOtlpSender(target),
    encode: (spans) => encode(target, 'TracesRequest', tracesRequest(origin, spans)),
    log,
    clock: steadyClock,
    everyMs,
  });
  return {
    begin: createBeginSpan(sampler),
    end: (call) => {
      const { span } = call.notes;
      if (span === undefined || !isExported(call, sampler)) return;
      const epochMs = systemClock.nowMs() - steadyClock.nowMs(); // Anew for each call, because the system time may be set.
      queue.add(spansToWire(span, spansOf(call, span), epochMs));
    },
    stop: queue.stop,
  };
}

/**
 * A call that failed is exported although its trace is not in the share, because an operator who keeps one in a hundred wants to
 * see the failures all the same. Not if the caller decided, or nothing is to be kept.
 */
function isExported({ notes: { span }, outcome }: EndedCall, { share }: Sampler): boolean {
  if (span?.isSampled === true) return true;
  return outcome === 'failed' && share > 0 && span?.parentId === undefined;
}
