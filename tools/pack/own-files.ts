import { copyFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import type { Build } from '../../packages/service/src/kernel/build.ts';
import { ROOT } from '../toolchain.ts';
import { eraseTypes, nameCommand } from './erase.ts';

/** The packages of ours that the service imports. In the package they are folders of `node_modules/@purser`. */
export const LIBRARIES = ['contract', 'simulator', 'text-runs', 'upstream-http'] as const;

/** The guides that the service shows at `/guides`. Other documents are for those who change the code. */
export const DOCUMENTS = ['docs/guides/**/*.md', 'docs/SANDBOX.md', 'docs/CLIENTS.md', 'docs/PARAMETERS.md'];
/** What the guides tell operators to copy from an installation. An image is built in a clone. */
const SAMPLES = 'deploy/{systemd,nginx,caddy,prometheus,grafana}/*';

/**
 * Writes the files of ours into `target`, one for each source file and in the same folders as in the repository, so that
 * everything that the service reads beside its code is where it looks for it.
 */
export function writeOwnFiles(target: string, build: Build | undefined): void {
  writeService(join(target, 'packages/service'), build);
  for (const name of LIBRARIES) writeLibrary(name, join(target, 'node_modules/@purser', name));
  for (const file of globSync(DOCUMENTS, { cwd: ROOT })) {
    write(join(target, file), nameCommand(readFileSync(join(ROOT, file), 'utf8')));
  }
  for (const file of ['LICENSE', 'CHANGELOG.md', ...globSync(SAMPLES, { cwd: ROOT })]) {
    copyInto(join(ROOT, file), join(target, file));
  }
  for (const file of globSync('**/*', { cwd: join(ROOT, 'tools/pack/files'), withFileTypes: true })) {
    if (!file.isFile()) continue;
    const from = join(file.parentPath, file.name);
    copyInto(from, join(target, from.slice(join(ROOT, 'tools/pack/files').length)));
  }
}

function writeService(target: string, build: Build | undefined): void {
  const source = join(ROOT, 'packages/service');
  writeSources(source, target);
  for (const file of globSync('migrations/*.sql', { cwd: source })) copyInto(join(source, file), join(target, file));
  copyInto(join(source, 'demo-catalogue.json'), join(target, 'demo-catalogue.json'));
  // The version is read from it, and `#area/file.js` is resolved by it.
  const { name, version, type, license, imports } = manifestOf(source);
  writeJson(join(target, 'package.json'), { name, version, private: true, type, license, imports });
  if (build !== undefined) writeJson(join(target, 'build.json'), build);
}

function writeLibrary(name: string, target: string): void {
  const source = join(ROOT, 'packages', name);
  writeSources(source, target);
  const { exports, ...manifest } = manifestOf(source);
  writeJson(join(target, 'package.json'), {
    ...manifest,
    private: undefined,
    exports: JSON.parse(JSON.stringify(exports).replaceAll('.ts"', '.js"')) as unknown,
  });
  copyInto(join(ROOT, 'LICENSE'), join(target, 'LICENSE'));
}

/** Types are erased; SQL and other files that the code reads are copied. Tests and READMEs stay in the repository. */
function writeSources(source: string, target: string): void {
  for (const file of globSync('src/**/*.*', { cwd: source })) {
    if (file.endsWith('.test.ts') || file.endsWith('.md') || file.endsWith('.d.ts')) continue;
    if (extname(file) !== '.ts') copyInto(join(source, file), join(target, file));
    else write(join(target, file.replace(/\.ts$/, '.js')), eraseTypes(readFileSync(join(source, file), 'utf8')));
  }
}

type Manifest = Readonly<Record<string, unknown>>;

export function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

export function writeJson(file: string, value: unknown): void {
  write(file, `${JSON.stringify(value, undefined, 2)}\n`);
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** With its mode: the launcher is executable. */
function copyInto(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}
