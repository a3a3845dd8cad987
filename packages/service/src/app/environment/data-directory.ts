import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { SetupError } from '#app/environment/start-error.ts';

/**
 * Under root, PostgreSQL runs as another user and must be able to pass through the directory, though not to list it. All our
 * own files in it are readable by their owner only.
 */
const MODE_OF_ROOT = 0o711;
const MODE = 0o700;
const CHECKOUT = fileURLToPath(new URL('../../../../../', import.meta.url));

interface Place {
  /** The value of `PURSER_DATA_DIR`. */
  readonly given: string | undefined;
  /** Whether this is the installed program. An installation has JavaScript alone, a checkout runs its sources. */
  readonly isInstalled: boolean;
  /** The value of `XDG_DATA_HOME`. */
  readonly dataHome: string | undefined;
}

export const IS_INSTALLED = import.meta.url.endsWith('.js');

/**
 * The absolute path of the data directory. By default it is in the checkout. npm replaces the whole folder of an installed
 * program at each upgrade, so its data is in the user's home, the same for commands in any folder.
 */
export function dataDirectoryOf({ given, isInstalled, dataHome }: Place): string {
  if (!isInstalled) return path.resolve(CHECKOUT, given ?? '.purser');
  if (given !== undefined) return path.resolve(given);
  // By the XDG specification a relative path is ignored.
  const home = dataHome !== undefined && path.isAbsolute(dataHome) ? dataHome : path.join(homedir(), '.local/share');
  return path.join(home, 'purser');
}

/** Creates the data directory if it is missing. Throws `SetupError` if it cannot be created or written to. */
export function makeDataDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: process.getuid?.() === 0 ? MODE_OF_ROOT : MODE });
    accessSync(directory, constants.W_OK);
  } catch (fault) {
    throw unusable(directory, fault);
  }
}

/** Throws what `makeDataDirectory` would throw, and makes nothing. */
export function refuseUnusableDirectory(directory: string): void {
  let nearest = directory;
  while (!existsSync(nearest) && path.dirname(nearest) !== nearest) nearest = path.dirname(nearest);
  try {
    accessSync(nearest, constants.W_OK);
  } catch (fault) {
    throw unusable(directory, fault);
  }
}

function unusable(directory: string, fault: unknown): SetupError {
  const why = fault instanceof Error ? fault.message : String(fault);
  return new SetupError(
    `The data directory ${directory} cannot be used: ${why}. Fix that, or set PURSER_DATA_DIR to another directory.`,
    { cause: fault },
  );
}
