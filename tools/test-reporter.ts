import { join, relative } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { spec as createSpecReporter, type TestEvent } from 'node:test/reporters';
import { keep } from './test-order.ts';

type Summary = Extract<TestEvent, { type: 'test:summary' }>['data'];

const COUNTS = ['tests', 'suites', 'passed', 'cancelled', 'skipped', 'todo'] as const;
const CLOSING_LINE = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/;
const GROUP = join(import.meta.dirname, 'test-group.ts');
const LONGEST_SHOWN = 10;
/** A run of fewer files does not list the longest: one can see which takes long. */
const FILES_FOR_LONGEST = 30;

/** What all the files add up to. */
interface Total {
  readonly counts: Record<(typeof COUNTS)[number], number>;
  /** Tests that were not skipped. The runner's own count takes a file in which no test matched for one that passed. */
  executed: number;
  isInterrupted: boolean;
  readonly files: { readonly file: string; readonly ms: number }[];
  readonly tables: TestEvent[];
}

/**
 * Reports files that ran one by one as a single run: by the `spec` reporter, with tables, the files that took longest and the
 * closing lines of the runner at the very end. A run in which no test was executed fails, which the runner lets pass.
 */
export default async function* report(source: AsyncIterable<TestEvent>, keepsTimings = false): AsyncGenerator<string> {
  const startedMs = performance.now();
  const counts = { tests: 0, suites: 0, passed: 0, cancelled: 0, skipped: 0, todo: 0 };
  const total: Total = { counts, executed: 0, isInterrupted: false, files: [], tables: [] };
  yield* rendered(addedUp(source, total));
  if (total.executed === 0 && !total.isInterrupted) {
    process.exitCode = 1;
    yield '\nNo test was executed, so this run has failed: see its arguments, and the names of the tests.\n\n';
  }
  yield* rendered(total.tables);
  if (keepsTimings) keep(total.files.map(({ file, ms }) => ({ file: relative('.', file), ms })));
  if (total.files.length >= FILES_FOR_LONGEST) yield longestOf(total.files);
  yield* rendered(closingLines(counts, performance.now() - startedMs));
}

/** The runner's own closing lines, for tools that read the end of a run. */
function closingLines({ tests, suites, passed, cancelled, skipped, todo }: Total['counts'], ms: number): TestEvent[] {
  const fail = tests - passed - cancelled - skipped - todo;
  const lines = { tests, suites, pass: passed, fail, cancelled, skipped, todo, duration_ms: ms };
  return Object.entries(lines).map(([name, value]) => diagnostic(`${name} ${value}`));
}

/** Takes what closes each file out of the events. */
async function* addedUp(source: AsyncIterable<TestEvent>, total: Total): AsyncGenerator<TestEvent> {
  let file = '';
  for await (const event of source) {
    if (event.type === 'test:interrupted') total.isInterrupted = true;
    if (isFileOfGroup(event)) total.files.push({ file: event.data.name, ms: event.data.details.duration_ms });
    if (event.type === 'test:summary') {
      if (event.data.file === undefined) addFile(total, file, event.data);
      else {
        file = event.data.file;
        total.executed += event.data.counts.tests - event.data.counts.skipped;
      }
    } else if (isTable(event)) total.tables.push(event);
    else if (!isClosingLine(event)) yield event;
  }
}

function addFile(total: Total, file: string, summary: Summary): void {
  for (const name of COUNTS) total.counts[name] += summary.counts[name];
  if (file !== GROUP) total.files.push({ file, ms: summary.duration_ms });
  if (!summary.success) process.exitCode = 1;
}

/** The end of a file that shared its process (`test-group.ts`). */
function isFileOfGroup(event: TestEvent): event is Extract<TestEvent, { type: 'test:complete' }> {
  return (
    event.type === 'test:complete' && event.data.nesting === 0 && event.data.file === GROUP && event.data.name !== GROUP
  );
}

/** Tells whether the line is `ℹ tests 12` or one of those below it, which the runner says of each file. */
function isClosingLine(event: TestEvent): boolean {
  if (event.type !== 'test:diagnostic') return false;
  return event.data.nesting === 0 && event.data.file === undefined && CLOSING_LINE.test(event.data.message);
}

/** What a test says in several lines is a table of what it saw: nobody would find that between the tests. */
function isTable(event: TestEvent): boolean {
  return event.type === 'test:diagnostic' && event.data.message.includes('\n');
}

function longestOf(files: Total['files']): string {
  const longest = files.toSorted((one, other) => other.ms - one.ms).slice(0, LONGEST_SHOWN);
  const lines = longest.map(({ file, ms }) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${relative('.', file)}\n`);
  return `\nThe files that took longest:\n${lines.join('')}\n`;
}

function diagnostic(message: string): TestEvent {
  return { type: 'test:diagnostic', data: { message, nesting: 0, level: 'info' } };
}

async function* rendered(events: AsyncIterable<TestEvent> | Iterable<TestEvent>): AsyncGenerator<string> {
  const spec = createSpecReporter();
  spec.setEncoding('utf8');
  pipeline(Readable.from(events), spec, () => undefined); // An error ends the loop below with it.
  for await (const text of spec) yield String(text);
}
