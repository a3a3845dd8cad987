// Runs test files, the short ones several to a process, and reports them as one run. Started by test.ts with a plan in JSON.
import { existsSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { run } from 'node:test';
import type { TestEvent } from 'node:test/reporters';
import { pathToFileURL } from 'node:url';
import { needsDatabase } from './test-files.ts';
import { type Group, inOrder } from './test-order.ts';
import report from './test-reporter.ts';

export interface Plan {
  readonly files: readonly string[];
  readonly pattern: string | undefined;
  readonly timeoutMs: number;
  readonly keepsTimings: boolean;
}

const GROUP = join(import.meta.dirname, 'test-group.ts');
const GLOBAL_SETUP = 'tests/support/global-setup.ts';
/**
 * The number is for two cores. A file is busy for a third of its time: it waits for its database, its timers and its
 * processes.
 */
const AT_ONCE = 6;
/** Loading makes much that is short-lived: with a nursery of V8's own first size, a tenth of its time is collection. */
const NODE_FLAGS = ['--min-semi-space-size=16', `--import=${import.meta.resolve('./known-imports.ts')}`];
/** A process says something at least once per test. Beyond this share of a test's time, it only waits for something that a test left open. */
const SILENCE_SHARE_MAX = 1.25;
/** A file of a group may take as long as so many of its tests. Long before that, its process is ended if it says nothing. */
const TESTS_OF_FILE = 10;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

interface Setup {
  readonly globalSetup?: () => Promise<void> | void;
  readonly globalTeardown?: () => Promise<void> | void;
}

const plan = JSON.parse(process.argv[2] ?? '') as Plan;
/** What each file has begun and not ended, by the file. */
const underWay = new Map<string, Map<string, TestEvent>>();
const events = new PassThrough({ objectMode: true });
const printed = print();
let isEnding = false;
for (const signal of SIGNALS) process.on(signal, () => void interrupt());

const hasSetup = plan.files.some(needsDatabase) && existsSync(GLOBAL_SETUP);
const setup: Setup = hasSetup ? ((await import(pathToFileURL(resolve(GLOBAL_SETUP)).href)) as Setup) : {};
await setup.globalSetup?.();
// With a pattern, each file has its own process: the runner would skip the suite of a file whose name does not match.
const left = [...inOrder(plan.files, plan.pattern === undefined)];
await Promise.all(Array.from({ length: AT_ONCE }, runNext));
if (!isEnding) {
  events.end();
  await printed;
  await setup.globalTeardown?.();
  process.exit();
}

/** Takes groups out of the list until none is left. */
async function runNext(): Promise<void> {
  const group = isEnding ? undefined : left.shift();
  if (group === undefined) return;
  await runGroup(group);
  await runNext();
}

/** A process is reported as a whole when it has ended, so that two of them do not mix; a single one while it runs. */
async function runGroup(files: Group): Promise<void> {
  const began = new Map<string, TestEvent>();
  const [file] = files;
  underWay.set(file, began);
  const isAlone = plan.files.length === 1;
  const kept: TestEvent[] = [];
  const { pattern, timeoutMs: timeout } = plan;
  const names = pattern === undefined ? {} : { testNamePatterns: pattern };
  const fileTimeout = timeout * TESTS_OF_FILE;
  const inGroup = { files: [GROUP], argv: [String(fileTimeout), ...files], timeout: fileTimeout * files.length };
  const choice = files.length === 1 ? { files: [resolve(file)], timeout } : inGroup;
  const stuck = new AbortController();
  const silence = setTimeout(() => {
    console.error(`\n${file} has said nothing for ${(timeout * SILENCE_SHARE_MAX) / 1000} s, so its process is ended.`);
    stuck.abort();
  }, timeout * SILENCE_SHARE_MAX);
  const options = { ...choice, execArgv: NODE_FLAGS, signal: stuck.signal, ...names };
  for await (const event of run(options) as AsyncIterable<TestEvent>) {
    silence.refresh();
    note(event, began);
    if (isAlone) events.write(event);
    else kept.push(event);
  }
  clearTimeout(silence);
  for (const event of kept) events.write(event);
  underWay.delete(file);
}

function note(event: TestEvent, began: Map<string, TestEvent>): void {
  if (event.type !== 'test:dequeue' && event.type !== 'test:complete') return;
  const { name, nesting, line } = event.data;
  if (isAbsolute(name)) return; // The file itself.
  const key = `${nesting} ${line} ${name}`;
  if (event.type === 'test:dequeue') began.set(key, event);
  else began.delete(key);
}

async function print(): Promise<void> {
  for await (const text of report(events, plan.keepsTimings)) process.stdout.write(text);
}

/** Names what is under way, takes down what was set up, and ends. The processes of the tests end with this one. */
async function interrupt(): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  const tests = [...underWay].flatMap(([file, began]) => [
    { name: file, nesting: 0, file, line: 1, column: 1 },
    ...[...began.values()].map(({ data }) => data),
  ]);
  events.write({ type: 'test:interrupted', data: { tests } });
  events.end();
  await printed;
  await setup.globalTeardown?.();
  process.exit(1);
}
