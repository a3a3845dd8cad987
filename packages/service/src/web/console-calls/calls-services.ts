import type { TraceReader } from '#traces/traces.ts';
import type { AppUsage } from '#usage/report.ts';
import type { ConsoleServices } from '#web/console/console-services.ts';

/** What the pages of calls act on. */
export interface CallsServices extends ConsoleServices {
  readonly traces: TraceReader;
  readonly appUsage: AppUsage;
}
