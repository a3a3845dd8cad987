import { readFileSync } from 'node:fs';
import { applyCatalogueFile, CatalogueFileError } from '#catalogue/catalogue-file.ts';
import type { Pool } from '#db/pool.ts';

/** Replaces the catalogue with a file. In force on every running process within a second. */
export async function importCatalogue(owner: Pool, file: string | undefined): Promise<number> {
  if (file === undefined) throw new CatalogueFileError('Name the file: npm run purser -- catalogue import <file>');
  const isApplied = await applyCatalogueFile(owner, read(file));
  console.log(
    isApplied
      ? 'The catalogue was imported.'
      : 'This file is already the catalogue that was imported last. Nothing to do.',
  );
  return 0;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new CatalogueFileError(`The catalogue \`${file}\` cannot be read.`);
  }
}
