import { pipeline, Readable } from 'node:stream';
import { spec as createSpecReporter, type TestEvent } from 'node:test/reporters';

/**
 * The `spec` reporter with tables and the runner's closing lines at the very end: by itself, it prints the failures after them. A
 * run in which no test was executed fails, which the runner lets pass.
 */
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const closing: TestEvent[] = [];
  const executed = { tests: 0 };
  yield* rendered(withoutClosing(source, closing, executed));
  if (executed.tests === 0) {
    process.exitCode = 1;
    yield '\nNo test was executed, so this run has failed: see its arguments, and the names of the tests.\n\n';
  }
  yield* rendered(closing);
}

async function* withoutClosing(
  source: AsyncIterable<TestEvent>,
  closing: TestEvent[],
  executed: { tests: number },
): AsyncGenerator<TestEvent> {
  for await (const event of source) {
    executed.tests += testsExecuted(event);
    if (isClosing(event)) closing.push(event);
    else yield event;
  }
}

/** Each file ends with a summary of its own. The runner's sum counts a file in which no test matched as one that passed. */
function testsExecuted(event: TestEvent): number {
  if (event.type !== 'test:summary' || event.data.file === undefined) return 0;
  return event.data.counts.tests - event.data.counts.skipped;
}

/**
 * `ℹ tests 12` and the lines below it: what the runner says itself belongs to no file. And what a test says in several
 * lines, which is a table of what it saw: nobody would find that between the tests.
 */
function isClosing(event: TestEvent): boolean {
  if (event.type !== 'test:diagnostic') return false;
  return (event.data.nesting === 0 && event.data.file === undefined) || event.data.message.includes('\n');
}

async function* rendered(events: AsyncIterable<TestEvent> | Iterable<TestEvent>): AsyncGenerator<string> {
  const spec = createSpecReporter();
  spec.setEncoding('utf8');
  pipeline(Readable.from(events), spec, () => undefined); // An error ends the loop below with it.
  for await (const text of spec) yield String(text);
}
