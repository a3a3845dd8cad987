import { readFileSync } from 'node:fs';
import { type Config, DEMO_CATALOGUE_FILE } from '#app/settings/config.ts';
import { SetupError } from '#app/environment/start-error.ts';
import { parseCatalogueFile } from '#catalogue/catalogue-file.ts';

/**
 * Reads the catalogue that a start applies: the text of its file, and what it says. Throws `SetupError` or `CatalogueFileError` if
 * it cannot be used. In production that includes the simulator, which runs in development only.
 */
export function readCatalogue(config: Pick<Config, 'catalogueFile' | 'environment'>) {
  const text = readText(config.catalogueFile ?? DEMO_CATALOGUE_FILE);
  const file = parseCatalogueFile(text);
  const usesSimulator = Object.values(file.providers).some(({ kind }) => kind === 'simulator');
  if (config.environment === 'production' && usesSimulator) {
    throw new SetupError('The catalogue uses the provider simulator, which exists in development only. Remove it.');
  }
  return { text, file };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (fault) {
    throw new SetupError(`The catalogue ${file} cannot be read. Check PURSER_CATALOGUE.`, { cause: fault });
  }
}
