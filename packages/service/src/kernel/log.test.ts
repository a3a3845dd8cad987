import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { describeFault } from '#kernel/log.ts';

/** What a process wrote to standard output that runs this program with a log. */
function outputOf(program: string): string {
  const source = `import { createLog, describeFault } from ${JSON.stringify(new URL('log.ts', import.meta.url).href)};
    import { writeSync } from 'node:fs';
    const log = createLog('info');
    ${program}`;
  return spawnSync(process.execPath, ['--input-type=module', '--eval', source], { encoding: 'utf8' }).stdout;
}

test('OP-06 log lines are batched; exits lose none', () => {
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

test('OP-06 the logs of one process write in order', () => {
  const said = outputOf(`
    const logs = Array.from({ length: 11 }, () => createLog('info'));
    logs[10].info('one');
    logs[0].info('two');
    writeSync(1, process.listenerCount('exit') + '\\n');`);
  const [count, ...lines] = said.trim().split('\n');
  assert.equal(count, '1');
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { msg: string }).msg),
    ['one', 'two'],
  );
});

test('OP-06 the log has a stack of our own faults only', () => {
  const away = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' });
  const restarting = Object.assign(new Error('the database system is starting up'), { code: '57P03' });
  const refused = Object.assign(new Error('The provider refuses the key.'), { isOutside: true });
  for (const fault of [away, restarting, refused, new Error('Connection terminated unexpectedly')]) {
    assert.deepEqual(describeFault(fault), { name: 'Error', message: fault.message });
  }
  const wrong = new TypeError('x is not a function', { cause: away });
  assert.deepEqual(Object.keys(describeFault(wrong)), ['name', 'message', 'stack', 'cause']);
});
