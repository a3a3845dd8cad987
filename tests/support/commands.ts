import type { TestContext } from 'node:test';
import { readConfig } from '../../packages/service/src/app/settings/config.ts';
import { runCommand } from '../../packages/service/src/cli/run-command.ts';
import type { DatabaseCommand } from '../../packages/service/src/cli/ground/ground.ts';
import type { Pool } from '../../packages/service/src/db/pool/pool.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';

interface Stage {
  /** The command runs on this database. Without one, a command that opens a database is a fault. */
  readonly owner?: Pool;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs a `purser` command in this process, and returns its exit status and what it printed on standard output. */
export async function runHere(t: TestContext, words: readonly string[], { owner, environment = {} }: Stage) {
  const config = readConfig({ PURSER_SECRET: 'a secret of commands in a test, long enough', ...environment });
  const settings = { config, log: createLog('silent') };
  const onDatabase = async (command: DatabaseCommand): Promise<number> => {
    if (owner === undefined) throw new Error('This command must not open a database.');
    return (await command(owner, settings)) ?? 0;
  };
  const print = t.mock.method(console, 'log', () => {});
  try {
    const ground = { settings: async () => settings, onDatabase, withAddresses: onDatabase };
    const status = await runCommand(words, ground);
    return { status, lines: print.mock.calls.map(({ arguments: [line] }) => String(line)) };
  } finally {
    print.mock.restore();
  }
}
