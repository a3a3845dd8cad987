import type { Config } from '#app/settings/config.ts';
import { openCallExport } from '#app/monitoring/telemetry.ts';
import type { Pool } from '#db/pool/pool.ts';
import { createCallEnd } from '#http/data-plane/call-end.ts';
import type { Log } from '#kernel/log.ts';
import { randomShare } from '#kernel/crypto/random.ts';
import { startCallCounts } from '#calls/stats/call-counts.ts';
import { startTraceWriter } from '#calls/traces/writer.ts';

/** Opens what ends every call: its log line, its trace, its part of the sums, and its export by OTLP. No call waits for any of it. */
export async function openCallRecords(db: Pool, config: Config, log: Log) {
  const { callLookupMs, logOneIn } = config;
  const spans = await openCallExport(config, log);
  const traces = startTraceWriter({ db, log, keptMs: callLookupMs });
  const counts = startCallCounts({ db, log });
  return {
    beginSpan: spans?.begin,
    endCall: createCallEnd({ log, traces, counts, exportCall: spans?.end, oneIn: logOneIn, random: randomShare }),
    noted: { stop: () => Promise.all([traces.stop(), counts.stop(), spans?.stop()]) },
  };
}
