import { readFileSync } from 'node:fs';
import { applyCatalogueFile, CatalogueFileError } from '#catalogue/catalogue-file.ts';
import { UsageError } from '#cli/command-error.ts';
import type { Pool } from '#db/pool.ts';

/** Replaces the catalogue with the text of a file. In force on every running process within a second. */
export async function importCatalogue(owner: Pool, text: string): Promise<number> {
  const isApplied = await applyCatalogueFile(owner, text);
  console.log(
    isApplied
      ? 'The catalogue was imported.'
      : 'This file is already the catalogue that was imported last. Nothing to do.',
  );
  return 0;
}

/** Reads the one file that is named. Throws `UsageError`, or `CatalogueFileError` if it cannot be read. */
export function readCatalogueFile([file, ...others]: readonly string[]): string {
  if (file === undefined || file.startsWith('-') || others.length > 0)
    throw new UsageError('Name one file: npm run purser -- catalogue import <file>');
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new CatalogueFileError(`The catalogue \`${file}\` cannot be read.`);
  }
}
