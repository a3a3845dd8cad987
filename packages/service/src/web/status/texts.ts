import type { ModelState, ServiceStatus } from '#status/status.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The texts of the status page. */
export const STATUS_TEXTS = {
  titles: {
    up: 'Everything works',
    slow: 'Some answers are slow',
    partial: 'Some models are out',
    out: 'The service is out',
  } satisfies Readonly<Record<ServiceStatus['state'], string>>,
  states: { up: 'Up', slow: 'Slow', out: 'Out' } satisfies Readonly<Record<ModelState, string>>,
  meanings: {
    up: 'Calls are answered as usual.',
    slow: 'Calls are answered, but some answers begin later than usual.',
    partial: 'Calls to these models fail at the moment. A call that fails costs nothing. All other models work.',
    out: 'Calls fail at the moment. A call that fails costs nothing, and no balance changes.',
  } satisfies Readonly<Record<ServiceStatus['state'], string>>,
  asOf: 'As of',
  models: {
    heading: 'Models',
    caption: 'The models of this service',
    model: 'Model',
    state: 'State',
    since: 'since',
    others: (count: number) => `${count} more ${count === 1 ? 'model is' : 'models are'} up.`,
  },
  incidents: {
    heading: (days: number) => `The last ${days} days`,
    caption: 'Incidents, the latest first',
    what: 'What',
    began: 'Began',
    lasted: 'Lasted',
    none: 'No incidents.',
    stale: 'The list cannot be read now. It may lack the latest incidents.',
    goesOn: 'still going on',
    service: 'The whole service',
    hidden: 'Some models',
    states: { out: 'out', slow: 'slow' },
  },
  how: 'A model is out when its provider fails most calls, and slow when its answers begin twice as late as usual. This page is up to a minute behind.',
  forPrograms: 'The same for programs',
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
