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
export const PYTHON_CLIENT_MODULES = ['openai', 'langchain_openai', 'litellm', 'pydantic_ai'] as const;

const MINOR_MIN = 10;
const PROBE = `
import importlib.util, json, platform, sys
names = ${JSON.stringify(['pip', ...PYTHON_CLIENT_MODULES])}
print(json.dumps({
    "version": platform.python_version(),
    "isSupported": sys.version_info >= (3, ${MINOR_MIN}),
    "modules": [name for name in names if importlib.util.find_spec(name)],
}))`;

interface Interpreter {
  readonly version: string;
  readonly modules: readonly string[];
}

/** The interpreter, or why it cannot be used. */
export function findPython(program: string = PYTHON): Interpreter | string {
  const { status, stdout } = spawnSync(program, ['-c', PROBE], { encoding: 'utf8' });
  const wanted = `Python 3.${MINOR_MIN} or newer; PURSER_TEST_PYTHON may name the interpreter`;
  if (status !== 0) return `not run: there is no ${wanted}`;
  const found = JSON.parse(stdout) as Interpreter & { readonly isSupported: boolean };
  return found.isSupported ? found : `not run: ${found.version} is too old. It needs ${wanted}`;
}

/** Builds the wheel and installs it into a folder of its own, as an app does without a network. Returns the folder. */
export async function installWheel(program: string = PYTHON): Promise<string> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'purser-python-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const build =
    'import sys; sys.path.insert(0, "backend"); import purser_build as b; print(b.build_wheel(sys.argv[1]))';
  const wheel = await runPython(['-c', build, folder], { program, cwd: PYTHON_PACKAGE });
  const site = path.join(folder, 'site');
  const offline = ['--no-index', '--no-deps', '--no-compile', '--disable-pip-version-check', '--quiet'];
  await runPython(['-m', 'pip', 'install', ...offline, '--target', site, path.join(folder, wheel)], { program });
  return site;
}

interface PythonOptions {
  readonly program?: string;
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** What a run prints on either output. Rejects with it if the run fails. */
export async function runPython(args: readonly string[], options: PythonOptions = {}): Promise<string> {
  const { program = PYTHON, cwd = ROOT, environment = {} } = options;
  const env = { ...process.env, ...QUIET, PIP_ROOT_USER_ACTION: 'ignore', ...environment };
  const { stdout, stderr } = await promisify(execFile)(program, ['-B', ...args], { cwd, env, timeout: 120_000 });
  return `${stdout}${stderr}`.trim();
}
