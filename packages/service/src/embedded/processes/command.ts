import { type ChildProcess, spawn } from 'node:child_process';

/**
 * The whole environment of our child processes. Purser's own environment contains keys. The server may run as another user,
 * whose other processes could read them there.
 */
export const CHILD_ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
} as const;

/** The user and group that a child process runs as. Empty means our own. */
export interface Identity {
  readonly uid?: number;
  readonly gid?: number;
}

/** Programs of the machine that we use when they work, and do without otherwise. */
export type HostTool = 'unshare' | 'setpriv' | 'flock';

interface CommandResult {
  /** The exit code. It is undefined when the command could not be started or was killed by a signal. */
  readonly code: number | undefined;
  /** The end of its output, or the reason why it could not be started. */
  readonly output: string;
}

const OUTPUT_LENGTH_MAX = 4_000;

/** Runs a command to its end and kills it after `timeoutMs`. `fd`, if given, becomes its descriptor 3. Never throws. */
export async function runCommand(
  argv: readonly string[],
  options: { readonly identity: Identity; readonly timeoutMs: number; readonly fd?: number },
): Promise<CommandResult> {
  const [command = '', ...parameters] = argv;
  const { promise, resolve } = Promise.withResolvers<CommandResult>();
  let child: ChildProcess;
  try {
    child = spawn(command, parameters, {
      ...options.identity,
      cwd: '/', // The child's user may not be allowed to enter ours.
      env: CHILD_ENVIRONMENT,
      stdio: ['ignore', 'pipe', 'pipe', options.fd ?? 'ignore'],
      timeout: options.timeoutMs,
      killSignal: 'SIGKILL',
    });
  } catch (fault) {
    return { code: undefined, output: String(fault) }; // `spawn` throws at once for a user that we may not become.
  }
  let output = '';
  const keepEnd = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-OUTPUT_LENGTH_MAX);
  };
  child.stdout?.on('data', keepEnd);
  child.stderr?.on('data', keepEnd);
  child.once('error', (fault) => resolve({ code: undefined, output: String(fault) }));
  child.once('close', (code) => resolve({ code: code ?? undefined, output: output.trim() }));
  return await promise;
}
