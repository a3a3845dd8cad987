import type { Config } from '#app/config.ts';
import type { Pool } from '#db/pool.ts';
import { createCallEnd } from '#http/data-plane/call-end.ts';
import type { Log } from '#kernel/log.ts';
import { randomShare } from '#kernel/random.ts';
import { startCallCounts } from '#stats/call-counts.ts';
import { startTraceWriter } from '#traces/trace-writer.ts';

/** Opens what ends every call: its log line, its trace and its part of the sums, written on connections that no call waits for. */
export function openCallRecords(db: Pool, { callLookupMs, logOneIn }: Config, log: Log) {
  const traces = startTraceWriter({ db, log, keptMs: callLookupMs });
  const counts = startCallCounts({ db, log });
  return {
    endCall: createCallEnd({ log, traces, counts, oneIn: logOneIn, random: randomShare }),
    noted: { stop: () => Promise.all([traces.stop(), counts.stop()]) },
  };
}
