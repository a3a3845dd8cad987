import { systemClock } from '#kernel/time/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { MetricReading } from '#kernel/metrics/metrics.ts';
import { repeat } from '#kernel/time/repeat.ts';
import { sleep } from '#kernel/time/sleep.ts';
import { metricsToWire } from '#telemetry/metrics-to-wire.ts';
import { encode, metricsRequest, type Origin } from '#telemetry/otlp.ts';
import { createOtlpSender } from '#telemetry/otlp-sender.ts';
import { createReachability } from '#telemetry/reachability.ts';
import type { OtlpTarget } from '#telemetry/settings.ts';

interface MetricsExportOptions {
  readonly target: OtlpTarget;
  readonly everyMs: number;
  readonly origin: Origin;
  /** The readings that `/metrics` shows. */
  readonly readAll: () => Promise<readonly MetricReading[]>;
  readonly log: Log;
}

/**
 * Sends what `/metrics` shows, by OTLP, at an interval and once at the end. Sums count from the start, so a request that was lost loses
 * nothing: the next one has it.
 */
export function startMetricsExport({ target, everyMs, origin, readAll, log }: MetricsExportOptions): {
  readonly stop: () => Promise<void>;
} {
  const sender = createOtlpSender(target);
  const reachability = createReachability(log, 'metrics');
  const startMs = systemClock.nowMs();

  async function send(): Promise<void> {
    const metrics = metricsToWire(await readAll(), { startMs, nowMs: systemClock.nowMs() });
    reachability.note(await sender.send(encode(target, 'MetricsRequest', metricsRequest(origin, metrics))));
  }

  const sends = repeat(() => send().catch(() => reachability.note(UNREAD)), everyMs);
  return {
    stop: async () => {
      await sends.stop();
      await Promise.race([send().catch(() => {}), sleep(STOP_MS_MAX)]);
      sender.close();
    },
  };
}

const STOP_MS_MAX = 2_000;
const UNREAD = { result: 'again', reason: 'metrics could not be read' } as const;
