import { openCallExport } from '#app/monitoring/telemetry.ts';
import type { Ground, Stoppable } from '#app/process/ground.ts';
import { createCallEnd, type EndCall } from '#http/data-plane/call-end.ts';
import type { BeginSpan } from '#gateway/call/call-span.ts';
import { randomShare } from '#kernel/crypto/random.ts';
import { startCallCounts } from '#calls/stats/call-counts.ts';
import { startTraceWriter } from '#calls/traces/writer.ts';

/** What ends every call: its log line, its trace, its part of the sums, and its export by OTLP. No call waits for any of it. */
export interface CallRecords extends Stoppable {
  readonly endCall: EndCall;
  /** Begins the span of a call. It is undefined if no traces are exported. */
  readonly beginSpan: BeginSpan | undefined;
}

export async function openCallRecords({ config, pools, log }: Ground): Promise<CallRecords> {
  const { callLookupMs, logOneIn } = config;
  const db = pools.planes;
  const spans = await openCallExport(config, log);
  const traces = startTraceWriter({ db, log, keptMs: callLookupMs });
  const counts = startCallCounts({ db, log });
  return {
    beginSpan: spans?.begin,
    endCall: createCallEnd({ log, traces, counts, exportCall: spans?.end, oneIn: logOneIn, random: randomShare }),
    stop: () => Promise.all([traces.stop(), counts.stop(), spans?.stop()]),
  };
}
