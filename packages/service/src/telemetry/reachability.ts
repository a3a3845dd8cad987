import type { Log } from '#kernel/log.ts';
import type { Sent } from '#telemetry/otlp-sender.ts';

/** Tells the operator once that a collector takes nothing, and once that it does again. */
export function createReachability(log: Log, kind: 'traces' | 'metrics'): { readonly note: (sent: Sent) => void } {
  let isWell = true;
  return {
    note: (sent) => {
      const { result } = sent;
      if ((result === 'taken') === isWell) return;
      isWell = !isWell;
      if (result === 'taken') log.info({ kind }, 'the collector takes telemetry again');
      else log.warn({ kind, result, reason: sent.reason }, 'the collector takes no telemetry, and calls go on without');
    },
  };
}
