import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A process of the benchmarks that does what it is told, one thing at a time. */
export interface Worker<Order, Report> {
  readonly pid: number;
  /** Throws when the process ends instead of answering. */
  readonly tell: (order: Order) => Promise<Report>;
  readonly stop: () => Promise<void>;
}

interface WorkerOptions {
  /** The command that starts Node, with what stands in front of it, see `pinned`. */
  readonly command: readonly [string, ...string[]];
  readonly script: URL;
  /** What it needs to know from the start, see `startArgument`. */
  readonly argument: unknown;
}

/** Starts a script that calls `obey`. */
export function startWorker<Order, Report>(options: WorkerOptions): Worker<Order, Report> {
  const script = fileURLToPath(options.script);
  const [program, ...words] = options.command;
  const stdio: StdioOptions = ['ignore', 'inherit', 'inherit', 'ipc'];
  const child = spawn(program, [...words, script, JSON.stringify(options.argument)], { stdio });
  return {
    pid: child.pid ?? 0,
    tell: async (order) => {
      child.send(order as object);
      return (await answerOf(child, script)) as Report;
    },
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill();
      await once(child, 'exit');
    },
  };
}

async function answerOf(child: ChildProcess, script: string): Promise<unknown> {
  const isOver = new AbortController();
  const ended = once(child, 'exit', { signal: isOver.signal }).then(() => {
    throw new Error(`${script} has ended instead of answering.`);
  });
  ended.catch(() => {}); // Also when nobody waits for it any more.
  try {
    const [answer] = (await Promise.race([once(child, 'message', { signal: isOver.signal }), ended])) as unknown[];
    return answer;
  } finally {
    isOver.abort();
  }
}

/** What the process was started with, inside of it. */
export function startArgument(): unknown {
  return JSON.parse(process.argv[2] ?? '{}');
}

/** The other side of `tell`: carries out each order and sends back its report. Exits when its parent process does. */
export function obey(act: (order: unknown) => Promise<object>): void {
  process.once('disconnect', () => process.exit());
  process.on('message', (order) => {
    void act(order).then((report) => process.send?.(report));
  });
}
