import { monitorEventLoopDelay } from 'node:perf_hooks';
import { gauge, readCounter } from '#kernel/metrics.ts';

const NANOSECONDS = 1e9;
const MICROSECONDS = 1e6;

/** Shorthand for a gauge that is added up over all processes. */
function sum(name: string, help: string, read: () => number): void {
  gauge({ name, help, across: 'sum', read });
}

/** Declares the metrics that every gateway process reports about itself. `callsUnderWay` counts calls that hold money. */
export function declareProcessMetrics({ callsUnderWay }: { readonly callsUnderWay: () => number }): {
  readonly stop: () => void;
} {
  const delay = monitorEventLoopDelay();
  delay.enable();
  sum('purser_processes', 'Gateway processes that these figures cover.', () => 1);
  sum('purser_calls_under_way', 'Calls that hold money now.', callsUnderWay);
  sum('purser_process_resident_memory_bytes', 'Memory in use.', () => process.memoryUsage.rss());
  sum('purser_process_heap_used_bytes', 'JavaScript heap in use.', () => process.memoryUsage().heapUsed);
  readCounter({
    name: 'purser_process_cpu_seconds_total',
    help: 'Processor time used.',
    read: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / MICROSECONDS;
    },
  });
  gauge({
    name: 'purser_process_uptime_seconds',
    help: 'How long the oldest gateway process has been up.',
    across: 'max',
    read: () => process.uptime(),
  });
  gauge({
    name: 'purser_event_loop_delay_seconds',
    help: 'The longest time that a process was too busy to react, since the last reading.',
    across: 'max',
    read: () => {
      const longest = delay.max / NANOSECONDS;
      delay.reset(); // The maximum since the last scrape is what an alert needs; a maximum since the start never falls.
      return longest;
    },
  });
  return { stop: () => void delay.disable() };
}
