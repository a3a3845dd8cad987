import type { TraceReader } from '#calls/traces/traces.ts';
import type { AppUsage } from '#calls/usage/report.ts';
import type { ConsoleServices } from '#web/console/frame/services.ts';

/** What the pages of calls act on. */
export interface CallsServices extends ConsoleServices {
  readonly traces: TraceReader;
  readonly appUsage: AppUsage;
}
