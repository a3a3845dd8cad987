import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { changedFiles, digestOfRules, digestsOf, type KeptFiles, readKept, writeKept } from '../kept-files.ts';
import type { Tree } from '../structure/read-tree.ts';
import { type Outcome, ROOT, runTool, type Tool, TYPES_KEPT } from '../toolchain.ts';

/** What is kept of a lint that found nothing. */
interface Kept extends KeptFiles {
  /** The files that each file imports. */
  readonly imports: Readonly<Record<string, readonly string[]>>;
}

/** The part of the compiler's notes that tells what each file imports. Ids count from 1. */
export interface CompilerNotes {
  readonly fileNames: readonly string[];
  readonly fileIdsList: readonly (readonly number[])[];
  readonly referencedMap: readonly (readonly [number, number])[];
}

const LINTED = /\.[cm]?[jt]sx?$/;
const RULES =
  /^(?:oxlint\.config\.ts|tools\/(?:lint|structure)\/.*|(?:.*\/)?tsconfig\.json|(?:.*\/)?package(?:-lock)?\.json|\.gitignore)$/;
/** Such a file changes what others mean without being imported by them. */
const GLOBAL = /^\s*declare (?:module|global)\b/m;
/** Beyond this share of all files, to read everything costs no more. */
const AFFECTED_SHARE_MAX = 0.5;

/**
 * Lints what has changed since a lint that found nothing, and every file that imports it, at any distance. The proofs and the first
 * run lint everything. `typesAreRead` resolves when the compiler has written its notes.
 */
export async function lintAffected(tree: Tree, tool: Tool, typesAreRead: Promise<unknown>): Promise<Outcome> {
  const startMs = Date.now();
  const affected = affectedFiles(tree, readKept(tool.name) as Kept | undefined);
  const outcome = await runTool({ ...tool, args: [...tool.args, ...(affected ?? [])] });
  await typesAreRead;
  const notes = join(ROOT, TYPES_KEPT);
  if (outcome.code === 0 && existsSync(notes)) {
    writeKept(tool.name, keptOf(tree, JSON.parse(readFileSync(notes, 'utf8')) as CompilerNotes, startMs));
  }
  return outcome;
}

/** The files to lint, or undefined for all of them. What the compiler does not read is always linted: that is little. */
export function affectedFiles(tree: Tree, before: Kept | undefined): readonly string[] | undefined {
  if (before?.rules !== digestOfRules(tree, RULES)) return undefined;
  const linted = [...tree.keys()].filter((file) => LINTED.test(file));
  const changed = changedFiles(tree, linted, before);
  const gone = Object.keys(before.files).filter((file) => !tree.has(file));
  if (gone.length > 0 || changed.some((file) => GLOBAL.test(tree.get(file) ?? ''))) return undefined;
  const importers = new Map<string, string[]>();
  for (const [file, imported] of Object.entries(before.imports)) {
    for (const one of imported) importers.set(one, [...(importers.get(one) ?? []), file]);
  }
  const affected = new Set(linted.filter((file) => before.imports[file] === undefined));
  const left = [...changed];
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    affected.add(file);
    left.push(...(importers.get(file) ?? []).filter((importer) => !affected.has(importer)));
  }
  return affected.size > linted.length * AFFECTED_SHARE_MAX
    ? undefined
    : [...affected].filter((file) => tree.has(file));
}

/** What is to be kept after a lint that found nothing. */
export function keptOf(tree: Tree, notes: CompilerNotes, startMs: number): Kept {
  const paths = notes.fileNames.map((name) => name.replace(/^\.\.\//, ''));
  const imports: Record<string, readonly string[]> = {};
  for (const file of paths) if (tree.has(file)) imports[file] = [];
  for (const [id, list] of notes.referencedMap) {
    const file = paths[id - 1] ?? '';
    const imported = notes.fileIdsList[list - 1] ?? [];
    if (tree.has(file)) imports[file] = imported.map((one) => paths[one - 1] ?? '').filter((one) => tree.has(one));
  }
  const linted = [...tree.keys()].filter((file) => LINTED.test(file));
  return { rules: digestOfRules(tree, RULES), files: digestsOf(tree, linted, startMs), imports };
}
