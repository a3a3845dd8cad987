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
/** All files of code, by their paths in the repository. */
export const SOURCES = globSync('**/*.{ts,sql}', { cwd: ROOT, exclude: ['**/node_modules/**', '.*/**'] });
const BARE_NAMES = new Set(SOURCES.map((file) => path.basename(file)));
/** A path, or the bare name of a file. What comes behind `*` or `<` is a pattern. */
const FILE_NAME = /(?<![\w./@<>*{}:-])(?:\.\.\/)*[\w-]+(?:[\w.-]*\/[\w-]+)*[\w.-]*\.(?:ts|sql)(?![\w*-])/g;
const FOLDER_NAME = /^(?!sandbox\/)[a-z-]+\/(?:[a-z-]+\/)*[a-z-]*$/; // A model of the sandbox has a name like a folder.
const COMMENT = /(?:^|[\s;{(])(?:\/\/|\/?\*\*?|--) (.*)$/gm;

/**
 * The files and folders that a document names and that are not there. A path begins at the root, in the service, or at the document. A bare
 * name in a README is that of a file below it; in other documents it may be anywhere.
 */
export function missingNames(document: string): readonly string[] {
  const folder = `${path.dirname(document)}/`;
  const below = SOURCES.filter((file) => file.startsWith(folder)).map((file) => path.basename(file));
  const files = missingFiles(
    document,
    readDocument(document),
    document.endsWith('/README.md') ? new Set(below) : BARE_NAMES,
  );
  const folders = namesIn(proseOf(document)).filter(
    (name) => FOLDER_NAME.test(name) && isThere(SERVICE, name.split('/')[0] ?? '') && !isThereFor(document, name),
  );
  return [...files, ...folders];
}

/** The files that comments of a file of code name and that are not there. */
export function missingInComments(source: string): readonly string[] {
  const comments = [...readDocument(source).matchAll(COMMENT)].map(([, text = '']) => text);
  return missingFiles(source, comments.join('\n'), BARE_NAMES);
}

function missingFiles(from: string, text: string, bareNames: ReadonlySet<string>): readonly string[] {
  const names = new Set([...text.matchAll(FILE_NAME)].map(([name]) => name));
  return [...names].filter((name) => !bareNames.has(name) && !isThereFor(from, name));
}

function isThereFor(from: string, name: string): boolean {
  const folder = path.dirname(from);
  return ['', SERVICE, folder, path.join(folder, 'src')].some((base) => isThere(base, name));
}

function isThere(...parts: readonly string[]): boolean {
  return existsSync(path.join(ROOT, ...parts));
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
  if (!isThere(found)) return false;
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
