import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { promisify } from 'node:util';
import { ROOT } from '../../tools/toolchain.ts';
import { PYTHON, QUIET } from '../clients/python.ts';

export const PYTHON_PACKAGE = path.join(ROOT, 'packages', 'purser-python');

/** The clients that the package has settings for, by the module that each is. */
export const PYTHON_CLIENT_MODULES = ['openai', 'anthropic', 'langchain_openai', 'litellm', 'pydantic_ai'] as const;

const MINOR_MIN = 10;
const PROBE = `
import importlib.util, json, platform, sys
names = ${JSON.stringify(['pip', 'httpx', ...PYTHON_CLIENT_MODULES])}
print(json.dumps({
    "program": sys.executable,
    "version": platform.python_version(),
    "isSupported": sys.version_info >= (3, ${MINOR_MIN}),
    "modules": [name for name in names if importlib.util.find_spec(name)],
}))`;

interface Interpreter {
  /** The interpreter itself, behind a script that would choose it each time. */
  readonly program: string;
  readonly version: string;
  readonly modules: readonly string[];
}

/** The interpreter is looked for once. */
let known: Interpreter | string | undefined;

/** The interpreter, or why it cannot be used. */
export function findPython(): Interpreter | string {
  return (known ??= probe());
}

function probe(): Interpreter | string {
  const { status, stdout } = spawnSync(PYTHON, ['-c', PROBE], { encoding: 'utf8' });
  const wanted = `Python 3.${MINOR_MIN} or newer; PURSER_TEST_PYTHON may name the interpreter`;
  if (status !== 0) return `not run: there is no ${wanted}`;
  const found = JSON.parse(stdout) as Interpreter & { readonly isSupported: boolean };
  return found.isSupported ? found : `not run: ${found.version} is too old. It needs ${wanted}`;
}

const IMPORTED = new RegExp(`^(?:from|import) (${PYTHON_CLIENT_MODULES.join('|')}|httpx)\\b`, 'gm');

/** Why a block of a document cannot be run; false if it can. */
export function reasonToSkip(code: string, python: Interpreter | string): string | false {
  if (typeof python === 'string') return python;
  const missing = [...code.matchAll(IMPORTED)]
    .map(([, name = '']) => name)
    .find((name) => !python.modules.includes(name));
  if (missing === undefined) return false;
  return `not run: PURSER_TEST_PYTHON may name an interpreter with \`${missing.replaceAll('_', '-')}\``;
}

/** Builds the wheel and installs it into a folder of its own, as an app does without a network. Returns the folder. */
export async function installWheel(): Promise<string> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'purser-python-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const build =
    'import sys; sys.path.insert(0, "backend"); import purser_build as b; print(b.build_wheel(sys.argv[1]))';
  const wheel = await runPython(['-c', build, folder], { cwd: PYTHON_PACKAGE });
  const site = path.join(folder, 'site');
  const offline = ['--no-index', '--no-deps', '--no-compile', '--disable-pip-version-check', '--quiet'];
  await runPython(['-m', 'pip', 'install', ...offline, '--target', site, path.join(folder, wheel)]);
  return site;
}

interface PythonOptions {
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** What a run prints on either output. Rejects with it if the run fails. */
export async function runPython(args: readonly string[], options: PythonOptions = {}): Promise<string> {
  const { cwd = ROOT, environment = {} } = options;
  const python = findPython();
  if (typeof python === 'string') throw new Error(python);
  const env = { ...process.env, ...QUIET, PIP_ROOT_USER_ACTION: 'ignore', ...environment };
  const { stdout, stderr } = await promisify(execFile)(python.program, ['-B', ...args], { cwd, env, timeout: 120_000 });
  return `${stdout}${stderr}`.trim();
}
