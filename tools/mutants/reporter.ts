import type { TestEvent } from 'node:test/reporters';

/** How one test ended. */
export interface TestResult {
  readonly file: string;
  readonly name: string;
  readonly isPassed: boolean;
  /** It failed because something was not as it asserts, and not because something broke. */
  readonly isAssertion: boolean;
  readonly message: string;
}

/** Begins each line of the reporter. */
export const RESULT_MARK = 'test result: ';
const CAUSES_MAX = 5;

/**
 * A line for each test that ran. Node loads it by the name of this file.
 * @public
 */
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of source) {
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue;
    const { name, file = '' } = event.data;
    const fault: unknown = event.type === 'test:fail' ? event.data.details.error : undefined;
    const causes = causesOf(fault);
    const result: TestResult = {
      file,
      name,
      isPassed: event.type === 'test:pass' && event.data.skip === undefined && event.data.todo === undefined,
      isAssertion: failedWhileRunning(fault) && causes.some(isAssertion),
      message: causes.map((cause) => (cause instanceof Error ? cause.message : String(cause))).join(': '),
    };
    yield `${RESULT_MARK}${JSON.stringify(result)}\n`;
  }
}

/** A fault and what caused it: the runner wraps what a test threw, and a property wraps its assertion. */
function causesOf(fault: unknown): readonly unknown[] {
  const causes: unknown[] = [];
  for (let cause = fault; cause !== undefined && causes.length < CAUSES_MAX; cause = nextCause(cause))
    causes.push(cause);
  return causes;
}

function nextCause(fault: unknown): unknown {
  return fault instanceof Error ? fault.cause : undefined;
}

/** The body of a test threw; not a hook of its, and not the clock. */
function failedWhileRunning(fault: unknown): boolean {
  return fault instanceof Error && 'failureType' in fault && fault.failureType === 'testCodeFailure';
}

function isAssertion(fault: unknown): boolean {
  return fault instanceof Error && 'code' in fault && fault.code === 'ERR_ASSERTION';
}
