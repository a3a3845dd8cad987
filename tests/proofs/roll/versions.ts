import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../../tools/toolchain.ts';
import { addMigration } from '../../support/other-builds.ts';

const PACKAGE = 'packages/service/package.json';
const TAR_BYTES_MAX = 512 * 1024 * 1024;

/** The files of a commit in a folder of their own, with the packages of this checkout. */
export function versionAt(commit: string, folder: string): string {
  mkdirSync(folder);
  const archive = execFileSync('git', ['archive', '--format=tar', commit], { cwd: ROOT, maxBuffer: TAR_BYTES_MAX });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  linkPackages(folder);
  return folder;
}

/** This checkout with its changes, as it is now: it may change while it is tried. */
export function thisVersion(folder: string): string {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' });
  for (const file of files.split('\n').filter((name) => name !== '' && existsSync(path.join(ROOT, name)))) {
    cpSync(path.join(ROOT, file), path.join(folder, file), { recursive: true });
  }
  linkPackages(folder);
  return folder;
}

/**
 * This checkout as its next version: a migration that only adds, and every SQL function replaced. It shows whether this version
 * runs beside the next one, and can be gone back to.
 */
export function nextVersion(folder: string): string {
  thisVersion(folder);
  const manifest = path.join(folder, PACKAGE);
  writeFileSync(
    manifest,
    readFileSync(manifest, 'utf8').replace(/"version": "\d+/, (version) => `${version}0`),
  );
  addMigration(folder, 'alter table ledger.wallets add column next_note text;\n');
  const functions = globSync('packages/service/src/**/*.sql', { cwd: folder });
  for (const file of functions) appendFileSync(path.join(folder, file), '\n-- Of the next version.\n');
  return folder;
}

/** As hard links: a version needs no space of its own. */
function linkPackages(folder: string): void {
  for (const packages of ['node_modules', ...globSync('packages/*/node_modules', { cwd: ROOT })]) {
    execFileSync('cp', ['-al', path.join(ROOT, packages), path.join(folder, packages)]);
  }
}
