// Runs the simulator as a separate process: `node main.ts --port 0`. Prints one line, `{"port":12345}`, when it listens.
import { parseArgs } from 'node:util';
import { createSimulator, listenOnLoopback } from './simulator.ts';

const port = portOf(process.argv.slice(2));
if (port === undefined) stop(2, 'Usage: node main.ts --port <0 to 65535>. Port 0 takes a free one.');
dieWithParent();
try {
  const taken = await listenOnLoopback(createSimulator(), port);
  process.stdout.write(`${JSON.stringify({ port: taken })}\n`);
} catch (fault) {
  stop(1, `The simulator cannot listen on port ${port}: ${String(fault)}`);
}

function portOf(argv: readonly string[]): number | undefined {
  try {
    const { port = '' } = parseArgs({ args: [...argv], options: { port: { type: 'string' } } }).values;
    return /^\d{1,5}$/u.test(port) && Number(port) <= 65_535 ? Number(port) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Ends this process on SIGTERM, and when the parent is gone. The parent holds the other end of stdin, which closes even if
 * the parent was killed, so no simulator is left behind.
 */
function dieWithParent(): void {
  for (const event of ['end', 'close', 'error']) process.stdin.on(event, exit);
  process.stdin.resume();
  process.stdout.on('error', exit);
  process.on('SIGTERM', exit);
  // Ctrl-C reaches the whole process group. The parent may still be finishing calls, and closes stdin when it is done.
  if (!process.stdin.isTTY) process.on('SIGINT', () => {});
}

function exit(): never {
  process.exit(0);
}

function stop(exitCode: number, message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(exitCode);
}
