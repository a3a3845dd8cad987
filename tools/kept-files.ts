import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tree } from './structure/read-tree.ts';
import { KEPT, type Outcome, ROOT, runTool, type Tool } from './toolchain.ts';

/** What is kept of a check that found nothing. */
export interface KeptFiles {
  /** The digest of all that decides what the check finds beside the files themselves. */
  readonly rules: string;
  /** The digest of each file that was read, by its path. */
  readonly files: Readonly<Record<string, string>>;
}

const FORMATTED = /\.(?:ts|cjs|js|json|css)$/;
const FORMAT_RULES = /^(?:biome\.json|package-lock\.json|(?:.*\/)?\.gitignore)$/;

/** Runs a check of the format of the files that have changed since one that found nothing. The proofs and the first run read all. */
export async function formatChanged(tree: Tree, tool: Tool): Promise<Outcome> {
  const startMs = Date.now();
  const before = readKept(tool.name) as KeptFiles | undefined;
  const rules = digestOfRules(tree, FORMAT_RULES);
  const formatted = [...tree.keys()].filter((file) => FORMATTED.test(file));
  const changed = before?.rules === rules ? changedFiles(tree, formatted, before) : undefined;
  if (changed?.length === 0) return { code: 0, output: '', durationMs: Date.now() - startMs };
  const args = changed === undefined ? tool.args : ['format', '--no-errors-on-unmatched', ...changed];
  const outcome = await runTool({ ...tool, args });
  if (outcome.code === 0) writeKept(tool.name, { rules, files: digestsOf(tree, formatted, startMs) });
  return outcome;
}

export function changedFiles(tree: Tree, files: readonly string[], { files: before }: KeptFiles): readonly string[] {
  return files.filter((file) => before[file] !== digestOf(tree.get(file) ?? ''));
}

/** The digests of files. One that has been written since the check began is left out, so the next check reads it. */
export function digestsOf(tree: Tree, files: readonly string[], startMs: number): Readonly<Record<string, string>> {
  const isOlder = (file: string): boolean => {
    const stats = statSync(join(ROOT, file), { throwIfNoEntry: false });
    return stats === undefined || stats.mtimeMs < startMs;
  };
  return Object.fromEntries(files.filter(isOlder).map((file) => [file, digestOf(tree.get(file) ?? '')]));
}

export function digestOfRules(tree: Tree, pattern: RegExp): string {
  const rules = [...tree].filter(([file]) => pattern.test(file)).map(([file, text]) => [file, digestOf(text)]);
  return digestOf(JSON.stringify([process.version, rules]));
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

export function readKept(name: string): unknown {
  const file = join(ROOT, KEPT, `${name}.json`);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

export function writeKept(name: string, kept: KeptFiles): void {
  mkdirSync(join(ROOT, KEPT), { recursive: true });
  writeFileSync(join(ROOT, KEPT, `${name}.json`), JSON.stringify(kept));
}
