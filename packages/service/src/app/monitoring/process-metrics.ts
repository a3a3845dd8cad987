import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createRecentMax } from '#kernel/metrics/recent-max.ts';
import { VERSION } from '#db/schema/functions.ts';
import { readBuild } from '#kernel/build.ts';
import { declareMetric, gauge, readCounter } from '#kernel/metrics/metrics.ts';

const NANOSECONDS = 1e9;
const MICROSECONDS = 1e6;
/** All turns together are a minute or a little more, which is the interval of most who collect metrics. */
const TURN_MS = 10_000;
const TURNS = 7;

/** Makes a gauge that is added up over all processes. */
function sum(name: string, help: string, read: () => number): void {
  gauge({ name, help, across: 'sum', read });
}

/** Declares the metrics that every gateway process reports about itself. `callsInFlight` counts calls that hold money. */
export function declareProcessMetrics({ callsInFlight }: { readonly callsInFlight: () => number }): {
  readonly stop: () => void;
} {
  const delay = startDelayWatch();
  declareBuild();
  sum('purser_processes', 'Gateway processes that these figures cover.', () => 1);
  sum('purser_calls_under_way', 'Calls that hold money now.', callsInFlight);
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
    help: 'The longest time that a process was too busy to react, within the last minute.',
    across: 'max',
    read: delay.longest,
  });
  return { stop: delay.stop };
}

/** The series differs while two builds run side by side. A build that nobody knows has empty labels. */
function declareBuild(): void {
  const help = 'The build that runs: its version, its commit and the day of the commit.';
  declareMetric('purser_build_info', { kind: 'gauge', help, across: 'max', read: () => [[buildLabels(), 1]] });
}

function buildLabels(): string {
  const { commit, date } = readBuild() ?? { commit: '', date: '' };
  return `{version="${VERSION}",commit="${commit}",date="${date}"}`;
}

/** A window and not the time since the last reading: `/metrics` and the health page would each take the other's maximum away. */
function startDelayWatch(): { readonly longest: () => number; readonly stop: () => void } {
  const delay = monitorEventLoopDelay();
  delay.enable();
  const recent = createRecentMax(TURNS);
  const timer = setInterval(() => {
    recent.note(delay.max / NANOSECONDS);
    delay.reset();
    recent.turn();
  }, TURN_MS).unref();
  return {
    longest: () => Math.max(recent.read(), delay.max / NANOSECONDS),
    stop: () => {
      clearInterval(timer);
      delay.disable();
    },
  };
}
