import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** Starts a script of this folder. The script says which orders it takes. */
export async function startActor(script: string, argument: string) {
  const child: ChildProcess = fork(new URL(script, import.meta.url), [argument]);
  return {
    tell: async (order: string) => {
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

/** The script's side of `tell`: carries out each order and sends back the result. */
export function obey(acts: Readonly<Record<string, () => unknown>>): void {
  process.on('message', (order: string) => {
    void Promise.resolve(acts[order]?.()).then((answer) => process.send?.(answer ?? 'done'));
  });
}
