import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { promisify } from 'node:util';
import { buildSdk } from '../../tools/build-sdk.ts';
import { ROOT } from '../../tools/toolchain.ts';
import { waitUntil } from './wait-until.ts';

const SDK = path.join(ROOT, 'packages', 'sdk');
const PARTS = /^#+ (.+)$|^```(\w*)(?: (\S+))?\n([^]*?)^```$/gm;
const run = promisify(execFile);
/** The time is below the time limit of a test. */
const PACK_MS_MAX = 110_000;

/** A folder outside the repository's packages that exists as long as the test or file that creates it. */
function newFolder(name: string): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), `purser-sdk-${name}-`));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * The tarball of what would be published of the SDK. The first test file that asks builds and packs it, and those of the same run that
 * ask later, or meanwhile, get the same file. It is removed with the folder of the run.
 */
export async function packSdk(): Promise<string> {
  const ofRun = process.env['PURSER_TEST_FOLDER'];
  if (ofRun === undefined) throw new Error('There is no folder of the run. Run the tests with `npm test`.');
  const shared = path.join(ofRun, 'sdk-package');
  const done = path.join(shared, 'done');
  if (isFirstToMake(shared)) {
    const told = await packInto(shared).catch((fault: unknown) => `Error: ${String(fault)}`);
    writeFileSync(`${done}.part`, told);
    renameSync(`${done}.part`, done); // In one step, for those who wait.
  }
  await waitUntil('the SDK is packed', () => existsSync(done), PACK_MS_MAX);
  const told = readFileSync(done, 'utf8');
  assert.ok(!told.startsWith('Error: '), told);
  return told;
}

function isFirstToMake(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'EEXIST') return false;
    throw fault;
  }
}

async function packInto(folder: string): Promise<string> {
  for (const name of ['package.json', 'README.md', 'LICENSE']) cpSync(path.join(SDK, name), path.join(folder, name));
  await buildSdk(path.join(folder, 'dist'));
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--silent'], { cwd: folder });
  return path.join(folder, stdout.trim());
}

export type Project = Awaited<ReturnType<typeof newProject>>;

interface RunOptions {
  /** The runtime with its arguments. By default this Node. */
  readonly by?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** An app's own project with the packed SDK installed, along with any of our packages that are named. */
export async function newProject(tarball: string, fields: object = {}, beside: readonly string[] = []) {
  const folder = newFolder('project');
  const write = (file: string, text: string): void => {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
  };
  write('package.json', JSON.stringify({ name: 'an-app', private: true, ...fields }));
  await run('npm', ['install', tarball, '--offline', '--ignore-scripts', '--silent', '--no-package-lock'], {
    cwd: folder,
  });
  for (const name of beside) {
    mkdirSync(path.dirname(path.join(folder, 'node_modules', name)), { recursive: true });
    symlinkSync(path.join(ROOT, 'node_modules', name), path.join(folder, 'node_modules', name), 'dir');
  }
  return {
    folder,
    write,
    /** The output of a script in it. */
    run: async (file: string, { by = [], environment = {} }: RunOptions = {}) => {
      const [program = process.execPath, ...args] = by;
      const env = { PATH: process.env['PATH'], ...environment };
      const { stdout, stderr } = await run(program, [...args, file], { cwd: folder, env, timeout: 60_000 });
      assert.equal(stderr, '');
      return stdout.trim();
    },
  };
}

export interface Block {
  readonly heading: string;
  readonly language: string;
  /** The file name, if the fence gives one. */
  readonly file: string | undefined;
  readonly code: string;
}

/** The code blocks of a document, each with its heading. */
export function blocksOf(document: string): readonly Block[] {
  const blocks: Block[] = [];
  let heading = '';
  const text = readFileSync(path.join(ROOT, document), 'utf8');
  for (const [, title, language = '', file, code = ''] of text.matchAll(PARTS)) {
    if (title === undefined) blocks.push({ heading, language, file, code });
    else heading = title;
  }
  return blocks;
}
