import { spawnSync } from 'node:child_process';

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** Runs npm in a folder and returns its output. Throws with what it said if it fails. */
export function runNpm(args: readonly string[], cwd: string): string {
  const { status, error, stdout, stderr } = spawnSync('npm', args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  if (status !== 0) throw new Error(`\`npm ${args[0]}\` failed:\n${stdout}${stderr}`, { cause: error });
  return stdout;
}
