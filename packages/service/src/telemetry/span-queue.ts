import type { SteadyClock } from '#kernel/time/clock.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import type { Log } from '#kernel/log.ts';
import { repeat } from '#kernel/time/repeat.ts';
import { sleep } from '#kernel/time/sleep.ts';
import { declareWaitingSpans, spansDropped, spansExported } from '#telemetry/metrics.ts';
import type { OtlpSender } from '#telemetry/otlp-sender.ts';
import { createReachability } from '#telemetry/reachability.ts';

/** Keeps the spans of calls until the collector has taken them. Nothing that a call does waits for it. */
interface SpanQueue {
  /** All spans of one call, or none of them if too many wait. */
  readonly add: (spans: readonly JsonObject[]) => void;
  /** Sends what waits once more, for a moment at most. */
  readonly stop: () => Promise<void>;
}

interface SpanQueueOptions {
  readonly sender: OtlpSender;
  readonly encode: (spans: readonly JsonObject[]) => Buffer;
  readonly log: Log;
  readonly clock: SteadyClock;
  /** The milliseconds between two looks at what waits. */
  readonly everyMs: number;
}

/** The most calls that wait, which take about 20 MB. Above it, calls are counted and their spans dropped. */
export const WAITING_MAX = 10_000;
/**
 * The most spans in one request, of five to nine a call. Encoding them holds up everything else for a few milliseconds.
 */
const SPANS_OF_REQUEST_MAX = 300;
const PAUSE_MS_MIN = 250;
const PAUSE_MS_MAX = 30_000;
const STOP_MS_MAX = 2_000;

export function createSpanQueue({ sender, encode, log, clock, everyMs }: SpanQueueOptions): SpanQueue {
  let waiting: JsonObject[] = [];
  let notBeforeMs = 0;
  let pauseMs = PAUSE_MS_MIN;
  const reachability = createReachability(log, 'traces');
  declareWaitingSpans(() => waiting.length);

  /** Sends all that waits, one request after the other. Ends early if the collector does not take them now. */
  async function flush(): Promise<void> {
    while (waiting.length > 0 && clock.nowMs() >= notBeforeMs) {
      const part = waiting.slice(0, SPANS_OF_REQUEST_MAX);
      const sent = await sender.send(encode(part));
      reachability.note(sent);
      if (sent.result === 'again') {
        notBeforeMs = clock.nowMs() + Math.max(pauseMs, sent.retryAfterMs ?? 0);
        pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX);
        return;
      }
      pauseMs = PAUSE_MS_MIN;
      waiting = waiting.slice(part.length); // New ones may have come meanwhile, behind these.
      (sent.result === 'taken' ? spansExported : spansDropped).add(part.length);
    }
  }

  const flushes = repeat(flush, everyMs);
  return {
    add: (spans) => {
      if (waiting.length + spans.length > WAITING_MAX) spansDropped.add(spans.length);
      else waiting.push(...spans);
    },
    stop: async () => {
      const last = flushes.stop().then(() => flush());
      await Promise.race([last, sleep(STOP_MS_MAX)]);
      spansDropped.add(waiting.length);
      sender.close();
    },
  };
}
