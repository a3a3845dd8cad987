import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ROOT } from './toolchain.ts';

/**
 * Runs as `npm run proofs -- python [interpreter ...]`: builds, installs and tests the Python package with every Python
 * of this machine, and checks its types with each that has mypy or pyright. Nothing is fetched.
 */

const PACKAGE = join(ROOT, 'packages', 'purser-python');
const TESTS = ['tests/proofs/sdk/python.test.ts', 'tests/conformance/sdk/retries.test.ts', '-t', 'Python'];
const COUNT = /^ℹ ((?:pass|skipped) \d+)$/gm;
const NAME = /^python3(?:\.\d+)?$/;
const STEP_TIMEOUT_MS = 600_000;
const ENVIRONMENT = { ...process.env, PIP_ROOT_USER_ACTION: 'ignore', PIP_DISABLE_PIP_VERSION_CHECK: '1' };

const given = process.argv.slice(2);
let isGood = true;
for (const program of given.length > 0 ? given : interpreters()) tryWith(program);
if (!isGood) process.exitCode = 1;

/** Those of the path and of pyenv, each once. */
function interpreters(): readonly string[] {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.endsWith('shims'));
  const pyenv = process.env['PYENV_ROOT'] ?? join(homedir(), '.pyenv');
  const found = [...folders, ...globSync(join(pyenv, 'versions', '*', 'bin'))]
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).flatMap((name) => (NAME.test(name) ? [join(folder, name)] : [])));
  return [...new Map(found.map((program) => [realpathSync(program), program])).values()];
}

function tryWith(program: string): void {
  const version = run(program, ['-c', 'import platform; print(platform.python_version())']).output.trim();
  const [, minor = 0] = version.split('.').map(Number);
  if (!version.startsWith('3.') || minor < 10) return console.log(`- ${version || program}: too old`);
  console.log(`\nPython ${version} (${program})`);
  const folder = mkdtempSync(join(tmpdir(), 'purser-try-python-'));
  const site = join(folder, 'site');
  const build =
    'import sys; sys.path.insert(0, "backend"); import purser_build as b; print(b.build_sdist(sys.argv[1]))';
  const offline = ['-m', 'pip', 'install', '--quiet', '--no-index', '--no-deps', '--no-compile'];
  try {
    say('the source archive is built', run(program, ['-B', '-c', build, folder]));
    const [archive = ''] = globSync(join(folder, '*.tar.gz'));
    say('it is built and installed again without a network', run(program, [...offline, '--target', site, archive]));
    const uses = { PYTHONPATH: site };
    const unit = ['-B', '-W', 'error', '-m', 'unittest', 'discover', '-s', 'tests', '-t', 'tests'];
    say('its own tests pass, and warnings are errors', run(program, unit, uses));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  for (const checker of ['mypy', 'pyright']) {
    const has = run(program, ['-c', `import ${checker}`]).status === 0;
    if (has) say(`${checker}, strict, finds nothing`, run(program, ['-m', checker]));
  }
  const served = run(process.execPath, ['tools/test.ts', ...TESTS], { PURSER_TEST_PYTHON: program }, ROOT);
  say('it works with the service, and with the clients that this Python has', { ...served, output: summaryOf(served) });
}

interface Ran {
  readonly status: number | null;
  readonly output: string;
}

function run(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  cwd = PACKAGE,
): Ran {
  const env = { ...ENVIRONMENT, ...environment };
  const options = { cwd, env, encoding: 'utf8', timeout: STEP_TIMEOUT_MS } as const;
  const { status, stdout, stderr } = spawnSync(program, args, options);
  return { status, output: `${stdout}${stderr}` };
}

/** How many tests passed and were skipped, or all of the output if one failed. */
function summaryOf({ status, output }: Ran): string {
  return status === 0 ? [...output.matchAll(COUNT)].map(([, count]) => count).join(', ') : output;
}

/** Tells what was seen, and all of the output if it failed. */
function say(what: string, { status, output }: Ran): void {
  const last = output.trim().split('\n').at(-1) ?? '';
  console.log(status === 0 ? `✔ ${what}${last === '' ? '' : ` (${last})`}` : `✖ ${what}\n${output}`);
  if (status !== 0) isGood = false;
}
