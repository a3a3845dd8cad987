import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { FAILPOINTS } from '../../packages/service/src/kernel/failpoint.ts';

/** The way of a call. Of some files only the part that calls wait for. */
const CALL_PATH = [
  'http/data-plane/chat.ts',
  'http/data-plane/frame-writer.ts',
  'gateway/pipeline.ts',
  'gateway/request/admission.ts',
  'gateway/run-in-lane.ts',
  'gateway/lanes/counted-lane.ts',
  'gateway/stream/stream.ts',
  'ledger/holds.ts',
  'ledger/hold/place.ts',
  'ledger/settlement/end.ts',
  'ledger/settlement/settling.ts',
  'db/instance.ts',
];
const SOURCE = join(import.meta.dirname, '../../packages/service/src');
const PARTS: Readonly<Record<string, RegExp>> = {
  'db/instance.ts': /run: async \(statement\)[\s\S]*?\n {4}\},\n/,
  // What is replayed, and the end of the process, are no part of a call.
  'ledger/settlement/settling.ts': /function land\([\s\S]*?\n {4}release:/,
};
/** A failpoint stands so close to the wait that it belongs to. */
const LINES_BESIDE = 3;

/** Line numbers of the waits that have no failpoint before them, or none after. */
function bareWaits(text: string): readonly number[] {
  const lines = text.split('\n').map((line) => line.replace(/\/\/.*$|^\s*\/?\*.*$/, ''));
  const marks = lines.flatMap((line, index) => (line.includes("failpoint('") ? [index] : []));
  const isBeside = (from: number, to: number) => marks.some((mark) => mark >= from && mark <= to);
  return lines.flatMap((line, index) => {
    const goesOn = /\breturn\b.*\.then\((.*)/.exec(line)?.[1];
    if (goesOn === undefined && !/\bawait\b/.test(line)) return [];
    const end = goesOn === undefined ? endOfStatement(lines, index) : (bodyOf(lines, goesOn) ?? index);
    const isMarked = isBeside(index - LINES_BESIDE, index) && isBeside(end, end + LINES_BESIDE);
    return isMarked ? [] : [index + 1];
  });
}

/** The line on which the function of this file begins its body that a wait goes on with; undefined where it stands beside it. */
function bodyOf(lines: readonly string[], goesOn: string): number | undefined {
  const [, name] = /^(?:\(\w+\) => )?(\w+)[()]/.exec(goesOn) ?? [];
  const from = lines.findIndex((line) => new RegExp(`(function|const) ${name}\\b`).test(line));
  return name === undefined || from === -1
    ? undefined
    : lines.findIndex((line, at) => at >= from && line.endsWith('{'));
}

/** The line on which the brackets that the wait opens are closed. */
function endOfStatement(lines: readonly string[], from: number): number {
  let depth = 0;
  for (let index = from; index < lines.length; index += 1) {
    for (const character of lines[index] ?? '')
      depth += '([{'.includes(character) ? 1 : ')]}'.includes(character) ? -1 : 0;
    if (depth <= 0) return index;
  }
  return lines.length - 1;
}

test('every wait of a call has a failpoint before it and one after it', () => {
  for (const file of CALL_PATH) {
    const whole = readFileSync(join(SOURCE, file), 'utf8');
    const part = PARTS[file];
    const text = part === undefined ? whole : (part.exec(whole)?.[0] ?? '');
    assert.match(text, /\bawait\b|\.then\(/, `${file} waits for nothing`);
    assert.deepEqual(bareWaits(text), [], `${file}: waits without a failpoint, by line`);
  }
});

test('a wait without a failpoint is found', () => {
  const marked = "failpoint('a.b');\nconst x = await f(\n  1,\n);\nfailpoint('a.c');";
  assert.deepEqual(bareWaits(marked), []);
  assert.deepEqual(bareWaits(marked.replace("failpoint('a.b');\n", '')), [1]);
  assert.deepEqual(bareWaits(marked.replace("failpoint('a.c');", '')), [2]);
  const chained =
    "failpoint('a.b');\nreturn f().then((x) => goOn(x));\n\n\n\nfunction goOn(x) {\n  failpoint('a.c');\n}";
  assert.deepEqual(bareWaits(chained), []);
  assert.deepEqual(bareWaits(chained.replace("failpoint('a.b');", '')), [2]);
  assert.deepEqual(bareWaits(chained.replace("failpoint('a.c');", '')), [2]);
});

test('every failpoint stands in the code once, and every one in the code is listed', () => {
  const files = globSync('**/*.ts', { cwd: SOURCE }).filter((file) => !file.endsWith('.test.ts'));
  const code = files.map((file) => readFileSync(join(SOURCE, file), 'utf8')).join('\n');
  const used = [...code.matchAll(/failpoint\('([a-z.-]+)'\)/g)].map(([, name]) => name);
  assert.equal(new Set(used).size, used.length, 'a name stands twice');
  assert.deepEqual(new Set(used), new Set(FAILPOINTS));
});
