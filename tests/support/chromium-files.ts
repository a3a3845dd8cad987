import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { inflate } from '@sparticuz/chromium';

/** A browser on this machine and the environment that its process needs. */
export interface BrowserFiles {
  readonly executable: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** The usual places of browsers other than the packaged one. */
const INSTALLED = [
  '/usr/bin/chromium',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
const PACKED = ['chromium.br', 'fonts.tar.br', 'al2023.tar.br'];
const CACHE = path.resolve(import.meta.dirname, '../../node_modules/.cache');

/** Finds `PURSER_TEST_BROWSER`, the packaged browser, or an installed one. It returns undefined if there is none. */
export async function findBrowser(): Promise<BrowserFiles | undefined> {
  const named = process.env['PURSER_TEST_BROWSER'];
  if (named !== undefined) return { executable: named, environment: {} };
  if (process.platform === 'linux' && process.arch === 'x64') return packagedBrowser();
  const executable = INSTALLED.find((file) => existsSync(file));
  return executable === undefined ? undefined : { executable, environment: {} };
}

/** The browser of the package, with the fonts and libraries that a bare machine lacks. */
async function packagedBrowser(): Promise<BrowserFiles> {
  const folder = path.join(CACHE, 'chromium');
  if (!existsSync(folder)) await unpack(folder);
  return {
    executable: path.join(folder, 'chromium'),
    environment: {
      FONTCONFIG_FILE: fontsConfigured(folder),
      LD_LIBRARY_PATH: path.join(folder, 'al2023/lib'),
    },
  };
}

/** Names the fonts where they are: the package's own settings name the folder of one vendor's cloud, and a page has no text. */
function fontsConfigured(folder: string): string {
  const file = path.join(folder, 'fonts.conf');
  const [fonts, cache] = [path.join(folder, 'fonts'), path.join(folder, 'fonts-cache')];
  writeFileSync(file, `<fontconfig><dir>${fonts}</dir><cachedir>${cache}</cachedir></fontconfig>\n`);
  return file;
}

/**
 * Unpacks the browser aside and then moves it. So it is there completely or not at all, even if another process unpacks
 * it or is killed.
 */
async function unpack(folder: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  const aside = mkdtempSync(`${folder}-`);
  const from = path.resolve(path.dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))), '../bin');
  try {
    await inTemporary(aside, () => Promise.all(PACKED.map((file) => inflate(path.join(from, file)))));
    for (const file of [aside, path.join(aside, 'chromium')]) chmodSync(file, 0o755); // For other users of this clone.
    renameSync(aside, folder);
  } catch (fault) {
    if (!existsSync(folder)) throw fault;
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

/** The package unpacks into the folder for temporary files, which by default is the same one for all users of a machine. */
async function inTemporary(folder: string, work: () => Promise<unknown>): Promise<void> {
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  const done = work(); // Looks up the folder at once.
  if (before === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = before;
  await done;
}
