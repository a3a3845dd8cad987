import { accessSync, constants, mkdirSync } from 'node:fs';
import { StartError } from '#app/start-error.ts';

/**
 * Under root, PostgreSQL runs as another user and must be able to pass through the directory, though not to list it. All our
 * own files in it are readable by their owner only.
 */
const MODE_OF_ROOT = 0o711;
const MODE = 0o700;

/** Creates the data directory if it is missing. Throws `StartError` if it cannot be created or written to. */
export function makeDataDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: process.getuid?.() === 0 ? MODE_OF_ROOT : MODE });
    accessSync(directory, constants.W_OK);
  } catch (fault) {
    const why = fault instanceof Error ? fault.message : String(fault);
    throw new StartError(
      `The data directory ${directory} cannot be used: ${why}. Fix that, or set PURSER_DATA_DIR to another directory.`,
      { cause: fault },
    );
  }
}
