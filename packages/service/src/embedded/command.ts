import { type ChildProcess, spawn } from 'node:child_process';

/**
 * All that our child processes see of the environment. Purser's own holds keys, and a server that runs as another
 * user must not carry them where others of that user can read them.
 */
export const CHILD_ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
} as const;

/** Whose rights a child process gets; empty for our own. */
export interface Identity {
  readonly uid?: number;
  readonly gid?: number;
}

/** Programs of the machine that we use where they work and do without where they do not. */
export type HostTool = 'unshare' | 'setpriv' | 'flock';

interface CommandResult {
  /** Undefined when the command could not be started or was ended by a signal. */
  readonly code: number | undefined;
  /** The end of what it wrote, or why it could not be started. */
  readonly output: string;
}

const OUTPUT_LENGTH_MAX = 4_000;

/** Runs a command to its end, and ends it itself after `timeoutMs`. `fd`, if given, is its descriptor 3. Never throws. */
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
      cwd: '/', // Ours may be closed to the child's user.
      env: CHILD_ENVIRONMENT,
      stdio: ['ignore', 'pipe', 'pipe', options.fd ?? 'ignore'],
      timeout: options.timeoutMs,
      killSignal: 'SIGKILL',
    });
  } catch (fault) {
    return { code: undefined, output: String(fault) }; // An identity we may not take is thrown at once, not emitted.
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
