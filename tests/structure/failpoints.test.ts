import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { FAILPOINTS, MARKED, MARKED_STATEMENTS } from '../../packages/service/src/kernel/faults/failpoint.ts';

/** The files on the path of a call. For some, only the part that calls wait for. */
const CALL_PATH = [
  'http/data-plane/call.ts',
  'http/data-plane/frame-writer.ts',
  'gateway/request/admission.ts',
  'gateway/run-in-lane.ts',
  'gateway/answer/answer.ts',
  'gateway/retries/retries.ts',
  'gateway/lanes/live-lane.ts',
  'gateway/lanes/sandbox-lane.ts',
  'gateway/lanes/running-calls.ts',
  'gateway/stream/stream.ts',
  'ledger/turn/queries.ts',
  'ledger/turn/turns.ts',
  'ledger/settlement/settling.ts',
  'db/processes/instance.ts',
];
const SOURCE = join(import.meta.dirname, '../../packages/service/src');
const PARTS: Readonly<Record<string, RegExp>> = {
  // The statements below these functions are marked by their names.
  'ledger/turn/queries.ts': /function (?:takeTurn|takeLeft|takeOrdinary)[\s\S]*?\n\}\n/g,
  'db/processes/instance.ts': /run: \(statement\)[\s\S]*?\n {4}\},\n/g,
  // A call waits neither for a replay nor for the end of the process.
  'ledger/settlement/settling.ts': /function land\([\s\S]*?\n {4}release:|async function settleAll[\s\S]*?\n\}\n/g,
};
/** A failpoint is at most this many lines away from its wait. */
const LINES_BESIDE = 3;

const TURN = 'statement.ledger-turn';

/**
 * What covers a wait, by the awaited text: a marked function of a port, or a function on the path, whose own waits
 * are checked here as well. Any other wait needs failpoints of its own next to it.
 */
const COVERS: Readonly<Record<string, string>> = {
  complete: 'lane.place', // It hands on to `runInLane`, which waits for this first. A turn of the body before that changes nothing.
  completeAtTurn: 'lane.place', // The same for a large body, which is counted before.
  'answer.run': 'relay',
  admitted: 'admit',
  found: 'keys.find',
  'admission.keys.find': 'keys.find',
  taken: 'rate.take',
  'lane.place': 'lane.place',
  'lane.settle': 'lane.settle',
  joinEarlier: 'function',
  replayOf: 'function',
  'answers.find': 'answers.find',
  'caller.idempotency.answers.keep': 'answers.keep',
  sleep: 'lane.place', // It runs between two calls of `lane.place`, and nothing has changed since the first.
  'lane.providerOf(hold, route).complete': 'provider.complete',
  largeOf: 'function',
  'large.nextStep': 'provider.complete', // Nothing has changed since the provider's answer.
  endFailed: 'function',
  endKept: 'function',
  'providerOf(hold, route).stream': 'provider.stream',
  turn: 'lane.place', // For a place at a provider with limits. Nothing has changed since the hold.
  'chunks.first': 'chunks.first',
  'chunks.rest': 'chunks.rest',
  opening: 'openUpstream',
  pump: 'function',
  pass: 'writer.write',
  writing: 'writer.write',
  'out.tell': 'writer.write',
  'out.end': 'writer.end',
  'out.fail': 'writer.fail',
  // Batchers answer these as soon as their statement is answered.
  'holds.place': TURN,
  settling: TURN,
  landing: TURN,
  statement: TURN,
  channel: TURN, // Or one of the two statements for a call alone.
  doneIn: TURN,
  reserveHolds: 'statement.ledger-reserve',
  settleHolds: 'statement.ledger-settle',
  'Promise.race': 'spool.keep',
  kept: 'spool.keep',
  chargeLate: 'statement.ledger-settle', // Only a replay calls it, and a repeat changes nothing.
  'rateLimiter.take': 'rate.take', // Of a key that has a rate of its own.
};

interface Wait {
  /** The line, counted from 0. */
  readonly line: number;
  readonly of: string;
}

/** The awaited text on a line, by `await` or `then`: the text before the brackets of the call. */
function waitsOf(lines: readonly string[]): readonly Wait[] {
  return lines.flatMap((text, line) => {
    const awaited = [...text.matchAll(/\bawait (?:\(await )?(new Promise|[\w.]+(?:\(\w*(?:, route)?\)\.\w+)?)/g)];
    const chained = [...text.matchAll(/(?<![\w.)])([\w.]+)(?:\(.*\))?\.(?:then|catch)\(/g)].filter(
      ([whole]) => !whole.startsWith('await'),
    );
    const names = new Set([...awaited, ...chained].map(([, name = '']) => name));
    // `await x.catch(` is one wait, for `x`.
    return [...names].filter((name) => name !== 'await').map((of) => ({ line, of }));
  });
}

/** The line numbers of waits that nothing covers and that lack a failpoint before or after them. */
function bareWaits(text: string, used: Set<string> = new Set()): readonly number[] {
  const lines = text.split('\n').map((line) => line.replace(/\/\/.*$|^\s*\/?\*.*$/, ''));
  const marks = lines.flatMap((line, index) => (line.includes("failpoint('") ? [index] : []));
  const isBeside = (from: number, to: number) => marks.some((mark) => mark >= from && mark <= to);
  return waitsOf(lines).flatMap(({ line, of }) => {
    if (Object.hasOwn(COVERS, of)) {
      used.add(of);
      return [];
    }
    const end = endOfStatement(lines, line);
    return isBeside(line - LINES_BESIDE, line) && isBeside(end, end + LINES_BESIDE) ? [] : [line + 1];
  });
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

const read = (file: string) => readFileSync(join(SOURCE, file), 'utf8');
const partOf = (file: string) => {
  const part = PARTS[file];
  return part === undefined ? read(file) : (read(file).match(part) ?? []).join('');
};

test('every wait has failpoints before and after it', () => {
  const used = new Set<string>();
  for (const file of CALL_PATH) {
    const text = partOf(file);
    assert.match(text, /\bawait\b|\.then\(/, `${file} waits for nothing`);
    assert.deepEqual(bareWaits(text, used), [], `${file}: waits without a failpoint, by line`);
  }
  assert.deepEqual(new Set(Object.keys(COVERS)), used, 'every cover belongs to an existing wait');
});

test('each cover of a wait is marked or on a call’s path', () => {
  const path = CALL_PATH.map(read).join('\n');
  for (const [wait, cover] of Object.entries(COVERS)) {
    if (cover.includes('.')) {
      assert.ok(FAILPOINTS.includes(`${cover}-called`) && FAILPOINTS.includes(`${cover}-answered`), cover);
    } else {
      const name = cover === 'function' ? wait : cover;
      assert.match(path, new RegExp(`function ${name}\\b`), `${name} is not a function on the path`);
    }
  }
});

test('app/compose and app/process/pools.ts mark every awaited port', () => {
  const compose = globSync('app/{compose.ts,compose/*.ts}', { cwd: SOURCE }).map(read).join('\n');
  const handedOn = { provider: 'lane', chunks: 'lane', writer: 'writers' } as const;
  for (const port of Object.keys(MARKED)) {
    const root = Object.hasOwn(handedOn, port) ? handedOn[port as keyof typeof handedOn] : port;
    assert.match(compose, new RegExp(`markPort\\('${root}'`), `${port} is not marked`);
  }
  assert.match(read('app/process/pools.ts'), /openTurns: \(\) => markStatements\(/);
  const queries = globSync('ledger/**/queries.ts', { cwd: SOURCE }).map(read).join('\n');
  for (const name of MARKED_STATEMENTS) assert.ok(queries.includes(`'${name}'`), `${name} is not a statement`);
});

test('a wait without a failpoint is found', () => {
  const marked = "failpoint('a.b');\nconst x = await f(\n  1,\n);\nfailpoint('a.c');";
  assert.deepEqual(bareWaits(marked), []);
  assert.deepEqual(bareWaits(marked.replace("failpoint('a.b');\n", '')), [1]);
  assert.deepEqual(bareWaits(marked.replace("failpoint('a.c');", '')), [2]);
  assert.deepEqual(bareWaits('return f(1).then((x) => g(x));'), [1]);
  assert.deepEqual(bareWaits('await new Promise((resolve) => go(resolve));'), [1]);
  assert.deepEqual(bareWaits('const found = await keys.look(1);\nreturn await lane.place(call);'), [1]);
});

test('every failpoint occurs once and is listed', () => {
  const files = globSync('**/*.ts', { cwd: SOURCE }).filter((file) => !file.endsWith('.test.ts'));
  const used = [
    ...files
      .map(read)
      .join('\n')
      .matchAll(/failpoint\('([a-z.-]+)'\)/g),
  ].map(([, name]) => name ?? '');
  assert.equal(new Set(used).size, used.length, 'a name occurs twice');
  const ofPorts = FAILPOINTS.filter((name) => /-(called|answered)$/.test(name) && !name.startsWith('hold.'));
  assert.deepEqual(new Set([...used, ...ofPorts]), new Set(FAILPOINTS));
});
