import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { LONG } from '../../../tools/proofs.ts';
import { promiseFiles, proofFiles, PROOFS } from '../../../tools/test-files.ts';
import { inOrder } from '../../../tools/test-order.ts';
import { type Outcome, ROOT, runNode } from '../../../tools/toolchain.ts';

const COMMAND = join(ROOT, 'tools', 'test.ts');
const TIMEOUT_MS = 60_000;
const folder = mkdtempSync(join(tmpdir(), 'purser-test-command-'));
after(() => rmSync(folder, { recursive: true }));

const FILES: Readonly<Record<string, string>> = {
  'package.json': '{ "type": "module" }',
  'packages/service/src/sum.test.ts': "import { test } from 'node:test'; test('adds', () => {});",
  'tests/integration/slow.test.ts': "import { test } from 'node:test'; test('is slow', () => {});",
  'tests/skipped.test.ts': "import { test } from 'node:test'; test.skip('is skipped', () => {});",
  'tests/broken/fails.test.ts': "import { test } from 'node:test'; test('fails', () => { throw new Error('no'); });",
  'tests/broken/dies.test.ts': "import { test } from 'node:test'; test('dies', () => process.exit(3));",
  'tests/broken/hangs.test.ts':
    "import { test } from 'node:test'; console.log('hanging'); test('hangs', () => new Promise(() => setInterval(() => {}, 99)));",
  'tests/broken/stays.test.ts':
    "import { test } from 'node:test'; test('passes', () => {}); setInterval(() => {}, 99);",
  'tests/proofs/crashes/kills.test.ts': "import { test } from 'node:test'; test('kills', () => {});",
  'tests/setup.test.ts':
    "import { test } from 'node:test'; test('sees the setup', (t) => t.assert.equal(process.env['PURSER_SEEN'], 'yes'));",
  'tests/broken/table.test.ts':
    "import { test } from 'node:test'; test('sees', (t) => t.diagnostic('a table\\nof two lines')); test('fails', () => { throw new Error('no'); });",
  'tests/broken/rounds.test.ts':
    "import { test } from 'node:test'; test('has rounds', (t) => t.assert.equal(process.env['PURSER_TEST_ROUNDS'], '7'));",
  'packages/pair/hooks.test.ts':
    "import { after, beforeEach, test } from 'node:test'; globalThis.seen = 0; beforeEach(() => { globalThis.seen += 1; }); test('counts', () => {}); after(() => console.log('hooks ended'));",
  'packages/pair/neighbour.test.ts':
    "import { test } from 'node:test'; console.log('neighbour loaded'); test('shares', (t) => t.assert.equal(globalThis.seen, 1));",
  'packages/pair/unloadable.test.ts':
    "import { test } from 'node:test'; test('never', () => {}); throw new Error('unloadable');",
  'tests/support/global-setup.ts':
    "export const globalSetup = () => { process.env['PURSER_SEEN'] = 'yes'; }; export const globalTeardown = () => new Promise((done) => setTimeout(done, 300)).then(() => console.log('taken down'));",
};
for (const [path, text] of Object.entries(FILES)) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

const runTests = (...args: readonly string[]): Promise<Outcome> =>
  runNode({ args: [COMMAND, ...args], cwd: folder, timeoutMs: TIMEOUT_MS });

/** The names of the tests that were run, from the spec reporter's output. */
function namesIn(output: string): readonly string[] {
  const names = output.split('\n').flatMap((line) => /^ *[✔✖] (.+) \(/.exec(line)?.[1] ?? []);
  return [...new Set(names)].filter((name) => !name.endsWith('.test.ts')).toSorted();
}

test('all tests see the global setup’s environment', async () => {
  const { code, output } = await runTests('--without', 'tests/broken/');
  assert.equal(code, 0, output);
  assert.deepEqual(namesIn(output), ['adds', 'is slow', 'sees the setup']);
  assert.match(output, /ℹ tests 4\n/);
});

test('--fast leaves out tests that need a database, and starts none', async () => {
  const { code, output } = await runTests('--fast', '--without', 'packages/pair');
  assert.equal(code, 0, output);
  assert.deepEqual(namesIn(output), ['adds']);
  assert.doesNotMatch(output, /taken down/);
});

test('--rounds must be a number and reaches the tests', async () => {
  assert.equal((await runTests('--rounds', '7', 'tests/broken/rounds.test.ts')).code, 0);
  assert.equal((await runTests('tests/broken/rounds.test.ts')).code, 1);
  for (const rounds of ['0', '1.5', 'many']) {
    const { code, output } = await runTests('--rounds', rounds);
    assert.equal(code, 1);
    assert.match(output, /`--rounds` is a number/);
  }
});

test('arguments choose files, folders and globs', async () => {
  assert.deepEqual(namesIn((await runTests('tests/setup.test.ts', 'packages/*/src/*.test.ts')).output), [
    'adds',
    'sees the setup',
  ]);
  assert.deepEqual(namesIn((await runTests('tests/integration/')).output), ['is slow']);
});

test('-t chooses tests by name', async () => {
  const { code, output } = await runTests('-t', 'setup', 'tests/setup.test.ts', 'tests/integration');
  assert.equal(code, 0, output);
  assert.ok(namesIn(output).includes('sees the setup'));
  assert.ok(!namesIn(output).includes('is slow'));
});

test('a failure sets the exit code', async () => {
  const { code, output } = await runTests('tests/broken/fails.test.ts');
  assert.equal(code, 1);
  const [, closing = ''] = output.split('failing tests:');
  assert.match(closing, /ℹ tests 1\n[\s\S]*ℹ fail 1\n[\s\S]*ℹ duration_ms [\d.]+\n(?:taken down\n)?$/);
});

test('several files end with one summary', async () => {
  const files = ['tests/broken/fails.test.ts', 'tests/setup.test.ts', 'tests/skipped.test.ts', 'packages/service'];
  const { code, output } = await runTests(...files);
  assert.equal(code, 1);
  const closing = output.split('\n').filter((line) => /^ℹ \w+ [\d.]+$/.test(line));
  assert.deepEqual(closing.slice(0, -1), [
    'ℹ tests 4',
    'ℹ suites 0',
    'ℹ pass 2',
    'ℹ fail 1',
    'ℹ cancelled 0',
    'ℹ skipped 1',
    'ℹ todo 0',
  ]);
});

test('a file ending before its tests fails the run', async () => {
  const { code, output } = await runTests('tests/broken/dies.test.ts', 'tests/setup.test.ts');
  assert.equal(code, 1);
  assert.match(output, /failing tests:[\s\S]*dies\.test\.ts[\s\S]*ℹ fail 1\n/);
});

test('files run longest first', () => {
  const timings = { 'tests/browser/long.test.ts': 9, 'tests/browser/middling.test.ts': 5 };
  const files = ['tests/browser/new.test.ts', ...Object.keys(timings).toReversed()];
  assert.deepEqual(inOrder(files, true, timings), [
    ['tests/browser/long.test.ts'],
    ['tests/browser/middling.test.ts'],
    ['tests/browser/new.test.ts'],
  ]);
});

test('files share few processes, and the last of them are small', () => {
  const files = Array.from({ length: 100 }, (_, at) => `tests/integration/file-${String(at).padStart(3, '0')}.test.ts`);
  const groups = inOrder(files, true, Object.fromEntries(files.map((file) => [file, 10])));
  assert.deepEqual(groups.flat().toSorted(), files);
  const sizes = groups.map(({ length }) => length);
  assert.deepEqual(sizes.slice(0, 3), [13, 11, 10]);
  assert.ok(sizes.length <= 16 && Math.min(...sizes) <= 5, String(sizes));
});

test('proofs are no part of `npm test`, and `npm run proofs` finds its files', () => {
  assert.deepEqual(
    promiseFiles(ROOT).filter((file) => file.startsWith(PROOFS)),
    [],
  );
  assert.ok(proofFiles(ROOT).length > 0);
  const commands = Object.values(LONG).flatMap(({ long }) => long.flat());
  const paths = commands.filter((word) => /^(tests|tools)\//.test(word));
  assert.deepEqual(
    paths.filter((path) => !existsSync(join(ROOT, path))),
    [],
  );
  const folders = new Set(proofFiles(ROOT).map((file) => file.split('/')[2] ?? ''));
  assert.deepEqual(
    [...folders].filter((name) => !Object.hasOwn(LONG, name)),
    [],
    'a folder of proofs has a name',
  );
});

test('an unknown proof is refused', async () => {
  const { code, output } = await runNode({ args: ['tools/proofs.ts', 'nothing'], cwd: ROOT, timeoutMs: TIMEOUT_MS });
  assert.equal(code, 2);
  assert.match(output, /There is no proof with the name nothing\.[\s\S]* cells +moves users/);
});

test('short files share a process and keep their own hooks', async () => {
  const pair = ['packages/pair/hooks.test.ts', 'packages/pair/neighbour.test.ts'];
  const { code, output } = await runTests(...pair);
  assert.equal(code, 0, output);
  assert.match(output, /hooks ended[\s\S]*neighbour loaded/);
  assert.match(output, /ℹ tests 2\nℹ suites 2\nℹ pass 2\nℹ fail 0/);
  const alone = await runTests('-t', 'shares', ...pair);
  assert.match(alone.output, /✖ shares/, 'with a pattern, each file has a process of its own');
});

test('an unloadable file leaves its neighbours running', async () => {
  const { code, output } = await runTests('packages/pair/unloadable.test.ts', 'packages/pair/hooks.test.ts');
  assert.equal(code, 1, output);
  assert.match(output, /✔ counts/);
  assert.match(output, /unloadable/);
});

test('a table of test diagnostics comes after the failed tests', async () => {
  const { output } = await runTests('tests/broken/table.test.ts');
  const [before = '', closing = ''] = output.split('failing tests:');
  assert.doesNotMatch(before, /a table/);
  assert.match(closing, /a table\nof two lines[\s\S]*ℹ tests 2\n/);
});

test('a run in which no test was executed fails', async () => {
  const runs = [['-t', 'no such name', 'tests/setup.test.ts'], ['tests/skipped.test.ts']];
  for (const args of runs) {
    const { code, output } = await runTests(...args);
    assert.equal(code, 1, output);
    assert.match(output, /No test was executed/);
  }
});

test('arguments that match no file fail', async () => {
  const runs = [
    ['tests/gone.test.ts'],
    ['--without', 'tests', '--without', 'packages'],
    ['--fsat'],
    ['--limit', 'x'],
    ['--timeout', '0'],
  ];
  for (const args of runs) assert.equal((await runTests(...args)).code, 1, args.join(' '));
});

test('a run past its limit names the running files', async () => {
  const { code, output } = await runTests('--limit', '2', 'tests/broken/hangs.test.ts');
  assert.equal(code, 124);
  assert.match(output, /have run for 2 s, which is the limit/);
  assert.match(output, /Interrupted while running:[\s\S]*hangs\.test\.ts[\s\S]* hangs .*hangs\.test\.ts/);
  assert.match(output, /taken down/);
});

test('a file whose process does not end fails the run', async () => {
  const { code, output } = await runTests('--timeout', '2', 'tests/broken/stays.test.ts', 'tests/setup.test.ts');
  assert.equal(code, 1, output);
  assert.match(output, /stays\.test\.ts has said nothing for 2\.5 s, so its process is ended/);
  assert.match(output, /failing tests:[\s\S]*stays\.test\.ts/);
  assert.ok(namesIn(output).includes('sees the setup'));
  assert.match(output, /taken down/);
});

test('a signal ends the tests and the global setup', async () => {
  const args = [COMMAND, 'tests/broken/hangs.test.ts'];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (text.includes('hanging')) for (const signal of ['SIGINT', 'SIGTERM'] as const) child.kill(signal);
    output += text;
  });
  const [code] = await once(child, 'close');
  assert.equal(code, 1);
  assert.match(output, /Interrupted while running:[\s\S]*hangs\.test\.ts/);
  assert.match(output, /taken down/);
});
