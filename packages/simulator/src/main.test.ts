import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { after, test } from 'node:test';

const main = fileURLToPath(new URL('main.ts', import.meta.url));
const started: ChildProcess[] = [];
after(() => started.forEach((child) => child.kill('SIGKILL')));

function start(args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  started.push(child);
  return child;
}

async function firstLineOf(child: ChildProcess): Promise<string> {
  const [line] = await once(createInterface(child.stdout!), 'line');
  return String(line);
}

function askModels(port: number): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/v1/models`, { headers: { authorization: 'Bearer a', connection: 'close' } });
}

test('OP-01 the simulator prints its port on one line', async () => {
  const child = start([main, '--port', '0']);
  let output = '';
  child.stdout?.on('data', (bytes) => (output += String(bytes)));
  const { port } = JSON.parse(await firstLineOf(child));
  assert.equal((await askModels(port)).status, 200);
  child.stdin?.end();
  await once(child, 'close');
  assert.equal(output, `{"port":${port}}\n`);
});

test('OP-01 the simulator ends when its stdin closes', async () => {
  const child = start([main, '--port', '0']);
  const { port } = JSON.parse(await firstLineOf(child));
  const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer a' },
    body: JSON.stringify({ model: 'sim-slow', stream: true, messages: [{ role: 'user', content: '' }] }),
  });
  const broken = assert.rejects(answer.text());
  child.stdin?.end();
  assert.deepEqual(await once(child, 'exit'), [0, null]);
  await broken;
});

test('OP-01 SIGTERM ends the simulator, Ctrl-C does not', async () => {
  const child = start([main, '--port', '0']);
  const { port } = JSON.parse(await firstLineOf(child));
  child.kill('SIGINT');
  assert.equal((await askModels(port)).status, 200);
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});

test('OP-01 the simulator ends when its parent is killed', async () => {
  const parentScript = `
    const { spawn } = require('node:child_process');
    const child = spawn(process.execPath, [${JSON.stringify(main)}, '--port', '0'], { stdio: ['pipe', 'inherit', 'inherit'] });
  `;
  const parent = start(['-e', parentScript]);
  JSON.parse(await firstLineOf(parent));
  const allEnded = once(parent.stdout!, 'close'); // The grandchild holds the pipe too: it closes when both are gone.
  parent.kill('SIGKILL');
  await allEnded;
});

test('OP-01 invalid or taken ports are reported on stderr', async () => {
  const wrong = [[], ['--port'], ['--port', 'http'], ['--port', '65536'], ['--prot', '1']];
  const exits = await Promise.all(wrong.map((args) => once(start([main, ...args]), 'exit')));
  for (const exit of exits) assert.deepEqual(exit, [2, null]);
  const child = start([main, '--port', '0']);
  const { port } = JSON.parse(await firstLineOf(child));
  assert.deepEqual(await once(start([main, '--port', String(port)]), 'exit'), [1, null]);
  child.stdin?.end();
});
