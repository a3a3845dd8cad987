import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../tools/toolchain.ts';

/** All documents of the repository, by their paths in it. */
export function allDocuments(): readonly string[] {
  return globSync('**/*.md', { cwd: ROOT, exclude: ['**/node_modules/**', '.*/**'] }).toSorted();
}

export function readDocument(document: string): string {
  return readFileSync(path.join(ROOT, document), 'utf8');
}

/** Reads a document without its blocks. */
function proseOf(document: string): string {
  return readDocument(document).replaceAll(/^```[^]*?^```$/gm, '');
}

/** The rows of the tables under a heading, each as its cells, without the title row. */
export function rowsUnder(document: string, heading: string): readonly (readonly string[])[] {
  const text = readDocument(document);
  const start = text.indexOf(`\n${heading}\n`);
  if (start < 0) throw new Error(`${document} has no ${heading}`);
  const end = text.indexOf('\n#', start + heading.length);
  const lines = text.slice(start, end < 0 ? undefined : end).split('\n');
  const tables = lines.filter((line, index) => line.startsWith('|') && !/^\|---|^\|---/.test(lines[index + 1] ?? ''));
  return tables
    .filter((line) => !line.startsWith('|---'))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

const SERVICE = 'packages/service/src';
const SOURCES = globSync('**/*.{ts,sql}', { cwd: ROOT, exclude: ['**/node_modules/**', '.*/**'] });
/** A path, or the bare name of a file. What comes behind `*` or `<` is a pattern. */
const FILE_NAME = /(?<![\w./@<>*{}:-])(?:\.\.\/)*[\w-]+(?:[\w.-]*\/[\w-]+)*[\w.-]*\.(?:ts|sql)(?![\w*-])/g;
const FOLDER_NAME = /^(?!sandbox\/)[a-z-]+\/(?:[a-z-]+\/)*[a-z-]*$/; // A model of the sandbox has a name like a folder.

/**
 * The files and folders that a document names and that are not there. A path begins at the root, in the service, or at the document. A bare
 * name in a README is that of a file below it; in other documents it may be anywhere.
 */
export function missingNames(document: string): readonly string[] {
  const folder = path.dirname(document);
  const near = document.endsWith('/README.md') ? SOURCES.filter((file) => file.startsWith(`${folder}/`)) : SOURCES;
  const names = new Set(near.map((file) => path.basename(file)));
  const bases = ['', SERVICE, folder, path.join(folder, 'src')];
  const isThere = (name: string) => names.has(name) || bases.some((base) => existsSync(path.join(ROOT, base, name)));
  const files = [...readDocument(document).matchAll(FILE_NAME)].map(([name]) => name);
  const folders = namesIn(proseOf(document)).filter(
    (name) => FOLDER_NAME.test(name) && existsSync(path.join(ROOT, SERVICE, name.split('/')[0] ?? '')),
  );
  return [...new Set([...files, ...folders])].filter((name) => !isThere(name));
}

/** The code spans of a text: `this`. */
export function namesIn(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
}

/** Links to our files that lead nowhere, or to a missing heading. */
export function deadLinks(document: string): readonly string[] {
  const text = proseOf(document);
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return targets.filter((target) => !/^[a-z]+:/.test(target) && !leadsSomewhere(document, target));
}

function leadsSomewhere(document: string, target: string): boolean {
  const [file = '', anchor] = target.split('#');
  const found = file === '' ? document : path.join(path.dirname(document), file);
  if (!existsSync(path.join(ROOT, found))) return false;
  return anchor === undefined || anchorsOf(readDocument(found)).includes(anchor);
}

function anchorsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^a-z0-9 _-]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** The routes that a document names in full, such as `GET /balance`. */
export function routesIn(document: string): readonly string[] {
  return namesIn(proseOf(document)).filter((name) => /^(GET|POST|PUT|PATCH|DELETE) \/\S+$/.test(name));
}
