import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** A process that does what it is told, one thing at a time. */
export interface Actor {
  readonly tell: (order: string) => Promise<unknown>;
  readonly end: () => Promise<void>;
}

/** Starts a script of this folder, which says what it obeys. */
export async function startActor(script: string, argument: string): Promise<Actor> {
  const child: ChildProcess = fork(new URL(script, import.meta.url), [argument]);
  return {
    tell: async (order) => {
      child.send(order);
      const [answer] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as unknown[];
      if (child.exitCode !== null) throw new Error(`${script} has ended.`);
      return answer;
    },
    end: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill();
      await once(child, 'exit');
    },
  };
}

/** The other side of `tell`: does each order and sends back what that gave. */
export function obey(acts: Readonly<Record<string, () => unknown>>): void {
  process.on('message', (order: string) => {
    void Promise.resolve(acts[order]?.()).then((answer) => process.send?.(answer ?? 'done'));
  });
}
