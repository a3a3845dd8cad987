import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** Seconds that slow test files took in the run that was last kept with `--keep-timings`. Other files count as short. */
type Timings = Readonly<Record<string, number>>;

const TIMINGS = new URL('test-timings.json', import.meta.url);
/** Only files that took longer are kept: the order of the others does not matter. */
const KEPT_SECONDS_MIN = 2;
const SHORT_SECONDS = 1;
/** Tests beside their source need no service, or a small part of one. */
const UNIT_SECONDS = 0.3;
const UNITS = 'packages/';

/** Short files of these folders share processes: they leave nothing behind in theirs. */
const SHARING = [
  'packages/',
  'tests/conformance/',
  'tests/integration/',
  'tests/property/',
  'tests/deploy/',
  'tests/documents/',
  'tests/structure/',
  'tests/support/',
];
const SHARING_SECONDS_MAX = 8;
/** Files that need a process of their own, because they measure or change it. */
const ALONE: ReadonlySet<string> = new Set([
  // Metrics that a process declares or counts stay in it.
  'tests/conformance/metrics.test.ts',
  'packages/service/src/kernel/catalogue-metrics.test.ts',
  'packages/service/src/kernel/metrics.test.ts',
  // What others leave on the heap decides when it is collected.
  'packages/service/src/db/outage.test.ts',
  'packages/service/src/kernel/roster.test.ts',
]);
/** A process loads the service for half a second of processor time. A larger group would leave too few for the end of a run. */
const GROUP_SECONDS_MAX = 30;

/** Files that run in one process, one after the other. */
export type Group = readonly [string, ...string[]];

/** Groups the files, longest first, so that no long file is left over at the end with one core idle. */
export function inOrder(files: readonly string[], isGrouped: boolean, timings: Timings = kept()): readonly Group[] {
  const secondsOf = (file: string): number => timings[file] ?? (file.startsWith(UNITS) ? UNIT_SECONDS : SHORT_SECONDS);
  const mayShare = (file: string): boolean =>
    isGrouped &&
    !ALONE.has(file) &&
    SHARING.some((folder) => file.startsWith(folder)) &&
    secondsOf(file) <= SHARING_SECONDS_MAX;
  const sum = (group: Group): number => group.reduce((seconds, file) => seconds + secondsOf(file), 0);
  const groups: Group[] = files.filter((file) => !mayShare(file)).map((file) => [file]);
  // Neighbours in the tree load the same modules, so they are grouped by their place in it.
  let last: [string, ...string[]] | undefined;
  for (const file of files.filter(mayShare)) {
    if (last === undefined || sum([...last, file]) > GROUP_SECONDS_MAX) groups.push((last = [file]));
    else last.push(file);
  }
  return groups.toSorted((one, other) => sum(other) - sum(one) || (one[0] < other[0] ? -1 : 1));
}

/** Writes down how long the files of a run took. Those that it did not run keep their seconds if they still exist. */
export function keep(files: readonly { readonly file: string; readonly ms: number }[]): void {
  const seconds = new Map(Object.entries(kept()).filter(([file]) => existsSync(file)));
  for (const { file, ms } of files) seconds.set(file, Math.round(ms / 1000));
  const slow = [...seconds].filter(([, taken]) => taken >= KEPT_SECONDS_MIN);
  const sorted = slow.toSorted(([one], [other]) => (one < other ? -1 : 1));
  writeFileSync(TIMINGS, `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`);
}

function kept(): Timings {
  return existsSync(TIMINGS) ? (JSON.parse(readFileSync(TIMINGS, 'utf8')) as Timings) : {};
}
