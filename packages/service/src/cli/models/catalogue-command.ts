import { readFileSync } from 'node:fs';
import { applyCatalogueFile, CatalogueFileError } from '#catalogue/catalogue-file.ts';
import type { Pool } from '#db/pool/pool.ts';

/** Replaces the catalogue with the text of a file. In force on every running process within a second. */
export async function importCatalogue(owner: Pool, text: string): Promise<void> {
  const isApplied = await applyCatalogueFile(owner, text);
  console.log(
    isApplied
      ? 'The catalogue was imported.'
      : 'This file is already the catalogue that was imported last. Nothing to do.',
  );
}

/** Reads a catalogue file. Throws `CatalogueFileError` if it cannot be read. */
export function readCatalogueFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new CatalogueFileError(`The catalogue \`${file}\` cannot be read.`);
  }
}
