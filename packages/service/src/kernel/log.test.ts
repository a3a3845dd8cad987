import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

/** What a process wrote to standard output that runs this program with a log. */
function outputOf(program: string): string {
  const source = `import { createLog } from ${JSON.stringify(new URL('log.ts', import.meta.url).href)};
    import { writeSync } from 'node:fs';
    const log = createLog('info');
    ${program}`;
  return spawnSync(process.execPath, ['--input-type=module', '--eval', source], { encoding: 'utf8' }).stdout;
}

test('CC-19 lines of the log are collected into few writes, a warning waits for nothing, and an exit loses none', () => {
  const said = outputOf(`
    log.info('one');
    writeSync(1, 'not yet\\n');
    log.warn('two');
    writeSync(1, 'both\\n');
    log.info('three');
    process.exit(1);`);
  const lines = said.trim().split('\n');
  const words = lines.map((line) => (line.startsWith('{') ? (JSON.parse(line) as { msg: string }).msg : line));
  assert.deepEqual(words, ['not yet', 'one', 'two', 'both', 'three']);
});
