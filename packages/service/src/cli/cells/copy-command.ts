import { compareOnce } from '#app/cells/directory-comparison.ts';
import { copyAgain } from '#cells/directory/copy.ts';
import { UsageError } from '#cli/terminal/command-error.ts';
import type { Settings } from '#cli/ground/ground.ts';
import { refuseUnusable } from '#cli/ground/other-database.ts';
import type { Pool } from '#db/pool/pool.ts';
import type { Secrets } from '#kernel/crypto/keys.ts';

/**
 * `cells subscribe --again` copies the whole directory again, and prints what was not as it is there. Throws
 * `CellFault`.
 */
export async function copyDirectoryAgain(owner: Pool, { config, log }: Settings): Promise<void> {
  const { cell: name, directoryUrl: databaseUrl } = config;
  if (name === undefined || databaseUrl === undefined) {
    throw new UsageError(
      'Set PURSER_CELL to the name of the cell, and PURSER_DIRECTORY_URL to the database that has the directory.',
    );
  }
  await refuseUnusable('PURSER_DIRECTORY_URL', databaseUrl, log);
  for (const { table, went, came } of await copyAgain(owner, { name, databaseUrl, log })) {
    console.log(`${table}: ${went} rows removed, ${came} added`);
  }
  console.log(`The cell ${name} has copied the directory again, and copies what changes from now on.`);
}

/**
 * `cells compare` says whether the copy in this database is as the directory. The exit status is 1 if it is not. Throws
 * `CellFault`.
 */
export async function printComparison(owner: Pool, secrets: Secrets): Promise<number> {
  const differing = await compareOnce(owner, secrets);
  if (differing.length === 0) {
    console.log('The copy of the directory equals the directory.');
    return 0;
  }
  for (const table of differing) console.log(`${table} differs`);
  console.log('The copy of the directory differs from it. `npm run purser -- cells subscribe --again` corrects it.');
  return 1;
}
