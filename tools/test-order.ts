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

/** Files of these folders share processes: they leave nothing behind in theirs. */
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
/** Files that need a process of their own, because they measure or change it. */
const ALONE: ReadonlySet<string> = new Set([
  // Metrics that a process declares or counts stay in it.
  'tests/conformance/metrics.test.ts',
  'packages/service/src/kernel/metrics/catalogue-metrics.test.ts',
  'packages/service/src/kernel/metrics/metrics.test.ts',
  // What others leave on the heap decides when it is collected.
  'packages/service/src/db/batches/outage.test.ts',
  'packages/service/src/kernel/work/indexed-set.test.ts',
]);
/**
 * Each process loads the service and compiles what it does often, for two to three seconds of processor time. So a group is large:
 * a share of the seconds that are not in a group yet. The last ones are small, and leave no core idle at the end of a run.
 */
const GROUP_SHARE = 1 / 8;
const GROUP_SECONDS_MIN = 45;

/** Files that run in one process, one after the other. */
export type Group = readonly [string, ...string[]];

/** Groups the files, longest first, so that no long file is left over at the end with one core idle. */
export function inOrder(files: readonly string[], isGrouped: boolean, timings: Timings = kept()): readonly Group[] {
  const secondsOf = (file: string): number => timings[file] ?? (file.startsWith(UNITS) ? UNIT_SECONDS : SHORT_SECONDS);
  const mayShare = (file: string): boolean =>
    isGrouped && !ALONE.has(file) && SHARING.some((folder) => file.startsWith(folder));
  const sum = (group: Group): number => group.reduce((seconds, file) => seconds + secondsOf(file), 0);
  const groups: Group[] = files.filter((file) => !mayShare(file)).map((file) => [file]);
  groups.push(...shared(files.filter(mayShare), secondsOf));
  return groups.toSorted((one, other) => sum(other) - sum(one) || (one[0] < other[0] ? -1 : 1));
}

/** Neighbours in the tree load the same modules, so files are grouped by their place in it. */
function shared(files: readonly string[], secondsOf: (file: string) => number): readonly Group[] {
  const groups: [string, ...string[]][] = [];
  let left = files.reduce((seconds, file) => seconds + secondsOf(file), 0);
  let room = 0;
  for (const file of files) {
    const group = groups.at(-1);
    if (group === undefined || room <= 0) {
      room = Math.max(GROUP_SECONDS_MIN, left * GROUP_SHARE);
      groups.push([file]);
    } else group.push(file);
    room -= secondsOf(file);
    left -= secondsOf(file);
  }
  return groups;
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
