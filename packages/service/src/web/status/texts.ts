import type { Incident, ServiceStatus } from '#status/status.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The texts of the status page. */
export const STATUS_TEXTS = {
  titles: {
    up: 'Everything works',
    slow: 'Some answers are slow',
    partial: 'Some models are down',
    out: 'The service is down',
  } satisfies Readonly<Record<ServiceStatus['state'], string>>,
  badges: {
    up: 'Up',
    slow: 'Slow',
    partial: 'Partly down',
    out: 'Down',
  } satisfies Readonly<Record<ServiceStatus['state'], string>>,
  meanings: {
    up: 'Calls are answered as usual.',
    slow: 'Calls are answered, but some answers begin later than usual.',
    partial: 'Calls to some models are failing. A failed call costs nothing. All other models work.',
    out: 'Calls are failing. A failed call costs nothing, and no balance changes.',
  } satisfies Readonly<Record<ServiceStatus['state'], string>>,
  asOf: 'As of',
  models: {
    heading: 'Models',
    since: 'since',
    others: (count: number) => `${count} more ${count === 1 ? 'model is' : 'models are'} up.`,
  },
  words: { out: 'down', slow: 'slow' } satisfies Readonly<Record<Incident['state'], string>>,
  incidents: {
    heading: (days: number) => `Incidents of the last ${days} days`,
    none: 'None.',
    stale: 'This list cannot be updated right now. The latest incidents may be missing.',
    was: (name: string, state: string, lasted: string) => `${name} was ${state} for ${lasted}.`,
    isStill: (name: string, state: string, lasted: string) => `${name} has been ${state} for ${lasted}.`,
    service: 'The whole service',
    hidden: 'One of the models',
  },
  how: 'A model is down when its providers fail most calls, and slow when its answers take twice as long as usual to begin. This page may be up to a minute behind.',
  forPrograms: 'View as JSON',
  lasted: (ms: number): string => {
    if (ms < MINUTE_MS) return 'less than a minute';
    if (ms < 2 * HOUR_MS) return counted(Math.round(ms / MINUTE_MS), 'minute');
    if (ms < 2 * DAY_MS) return counted(Math.round(ms / HOUR_MS), 'hour');
    return counted(Math.round(ms / DAY_MS), 'day');
  },
} as const;

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
