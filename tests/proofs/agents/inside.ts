// Runs a program in a network that has nothing but this process: see alone.ts. Arguments: port, socket, program, its arguments.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { pipeline } from 'node:stream';

const [port = '', socket = '', program = '', ...words] = process.argv.slice(2);
const { status } = spawnSync('ip', ['link', 'set', 'lo', 'up'], { stdio: 'inherit' });
if (status !== 0) throw new Error('The loopback interface cannot be set up.');
const door = createServer((inner) => {
  const outer = connect(socket);
  pipeline(inner, outer, inner, () => {});
}).listen(Number(port), '127.0.0.1');
await once(door, 'listening');
const child = spawn(program, words, { stdio: ['ignore', 'inherit', 'inherit'] });
const [code] = (await once(child, 'close')) as [number | null];
process.exit(code ?? 1);
