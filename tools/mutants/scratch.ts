import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Files } from './mutant.ts';

/** A copy of the repository that faults are planted in: the repository itself is never touched. */
export interface Scratch {
  readonly root: string;
  readonly write: (files: Files) => void;
  readonly remove: () => void;
}

export function createScratch(repository: string, files: Files): Scratch {
  const root = mkdtempSync(join(tmpdir(), 'purser-mutants-'));
  const write = (changed: Files): void => {
    for (const [path, text] of changed) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
  };
  write(files);
  linkPackages(join(repository, 'node_modules'), join(root, 'node_modules'));
  return { root, write, remove: () => rmSync(root, { recursive: true, force: true }) };
}

/** Links each installed package, but a scope of workspaces link by link: those must lead to the copy. */
function linkPackages(from: string, to: string): void {
  mkdirSync(to);
  for (const { name } of readdirSync(from, { withFileTypes: true })) {
    if (name === '@purser') linkWorkspaces(join(from, name), join(to, name));
    else symlinkSync(join(from, name), join(to, name));
  }
}

function linkWorkspaces(from: string, to: string): void {
  mkdirSync(to);
  for (const name of readdirSync(from)) symlinkSync(readlinkSync(join(from, name)), join(to, name));
}
