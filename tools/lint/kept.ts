import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Tree } from '../structure/read-tree.ts';
import { KEPT, type Outcome, ROOT, runTool, TOOLCHAIN, TYPES_KEPT } from '../toolchain.ts';

/** What is kept of a lint that found nothing. */
export interface Kept {
  /** The digest of all that decides what lint finds beside the files themselves. */
  readonly rules: string;
  /** The digest of each file that was read, by its path. */
  readonly files: Readonly<Record<string, string>>;
  /** The files that each of these imports. */
  readonly imports: Readonly<Record<string, readonly string[]>>;
}

/** The part of the compiler's notes that tells what each file imports. Ids count from 1. */
export interface CompilerNotes {
  readonly fileNames: readonly string[];
  readonly fileIdsList: readonly (readonly number[])[];
  readonly referencedMap: readonly (readonly [number, number])[];
}

const LINT_KEPT = join(ROOT, KEPT, 'lint.json');
const LINTED = /\.[cm]?[jt]sx?$/;
const RULES =
  /^(?:oxlint\.config\.ts|tools\/(?:lint|structure)\/.*|(?:.*\/)?tsconfig\.json|(?:.*\/)?package(?:-lock)?\.json|\.gitignore)$/;
/** Such a file changes what others mean without being imported by them. */
const GLOBAL = /^\s*declare (?:module|global)\b/m;
/** Beyond this share of all files, to read everything costs no more. */
const AFFECTED_SHARE_MAX = 0.5;

/**
 * Lints what has changed since a lint that found nothing, and every file that imports it, at any distance. The proofs and the first run
 * lint everything. `typesAreRead` resolves when the compiler has written its notes.
 */
export async function lintAffected(tree: Tree, typesAreRead: Promise<unknown>): Promise<Outcome> {
  const startMs = Date.now();
  const tool = TOOLCHAIN.find(({ name }) => name === 'lint');
  if (tool === undefined) throw new Error('There is no lint.');
  const before = existsSync(LINT_KEPT) ? (JSON.parse(readFileSync(LINT_KEPT, 'utf8')) as Kept) : undefined;
  const affected = affectedFiles(tree, before);
  const outcome = await runTool({ ...tool, args: [...tool.args, ...(affected ?? [])] });
  await typesAreRead;
  if (outcome.code === 0) keep(tree, startMs);
  return outcome;
}

/** The files to lint, or undefined for all of them. What the compiler does not read is always linted: that is little. */
export function affectedFiles(tree: Tree, before: Kept | undefined): readonly string[] | undefined {
  if (before?.rules !== digestOfRules(tree)) return undefined;
  const linted = [...tree].filter(([file]) => LINTED.test(file));
  const changed = linted.filter(([file, text]) => before.files[file] !== digestOf(text));
  const gone = Object.keys(before.files).filter((file) => !tree.has(file));
  if (gone.length > 0 || changed.some(([, text]) => GLOBAL.test(text))) return undefined;
  const importers = new Map<string, string[]>();
  for (const [file, imported] of Object.entries(before.imports)) {
    for (const one of imported) importers.set(one, [...(importers.get(one) ?? []), file]);
  }
  const affected = new Set(linted.flatMap(([file]) => (before.imports[file] === undefined ? [file] : [])));
  const left = changed.map(([file]) => file);
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    affected.add(file);
    left.push(...(importers.get(file) ?? []).filter((importer) => !affected.has(importer)));
  }
  return affected.size > linted.length * AFFECTED_SHARE_MAX
    ? undefined
    : [...affected].filter((file) => tree.has(file));
}

/** What is to be kept after a lint that found nothing. A file that has changed since is left out, so the next lint reads it. */
export function keptOf(tree: Tree, notes: CompilerNotes, isUnchanged: (file: string) => boolean): Kept {
  const paths = notes.fileNames.map((name) => name.replace(/^\.\.\//, ''));
  const imports: Record<string, readonly string[]> = {};
  for (const file of paths) if (tree.has(file)) imports[file] = [];
  for (const [id, list] of notes.referencedMap) {
    const file = paths[id - 1] ?? '';
    const imported = notes.fileIdsList[list - 1] ?? [];
    if (tree.has(file)) imports[file] = imported.map((one) => paths[one - 1] ?? '').filter((one) => tree.has(one));
  }
  const files = [...tree].filter(([file]) => LINTED.test(file) && isUnchanged(file));
  return {
    rules: digestOfRules(tree),
    files: Object.fromEntries(files.map(([file, text]) => [file, digestOf(text)])),
    imports,
  };
}

function keep(tree: Tree, startMs: number): void {
  const notes = join(ROOT, TYPES_KEPT);
  if (!existsSync(notes)) return;
  const isUnchanged = (file: string): boolean =>
    (statSync(join(ROOT, file), { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY) < startMs;
  const kept = keptOf(tree, JSON.parse(readFileSync(notes, 'utf8')) as CompilerNotes, isUnchanged);
  mkdirSync(dirname(LINT_KEPT), { recursive: true });
  writeFileSync(LINT_KEPT, JSON.stringify(kept));
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

function digestOfRules(tree: Tree): string {
  const rules = [...tree].filter(([file]) => RULES.test(file)).map(([file, text]) => [file, digestOf(text)]);
  return digestOf(JSON.stringify([process.version, rules]));
}
