import { readCatalogue } from '#app/catalogue/catalogue-text.ts';
import type { Config } from '#app/settings/config.ts';
import { refuseUnusableDirectory } from '#app/environment/data-directory.ts';
import { refuseUnfit } from '#app/start/unfit-database.ts';
import { SetupError, StartError } from '#app/environment/start-error.ts';
import { CatalogueFileError } from '#catalogue/catalogue-file.ts';
import { selectDirectoryUrl } from '#cells/topology/queries.ts';
import { judgeMigration, MigrationError } from '#db/schema/migrate.ts';
import type { Pool } from '#db/pool/pool.ts';
import type { Log } from '#kernel/log.ts';

const EXPLAINED = [StartError, MigrationError, CatalogueFileError];

/**
 * Looks at everything that a start would refuse, and changes nothing. Returns a sentence for each fault, with what to
 * do. A start refuses them before it migrates anything, and the doctor prints them, also before the first start. `owner` undefined: the
 * embedded server does not run.
 */
export async function judgeStart(config: Config, owner: Pool | undefined, log: Log): Promise<readonly string[]> {
  return (await faultsOf(config, owner, log)).map(({ message }) => message);
}

async function faultsOf(config: Config, owner: Pool | undefined, log: Log): Promise<readonly Error[]> {
  const faults: Error[] = [];
  const judge = async (look: () => unknown): Promise<void> => {
    try {
      await look();
    } catch (fault) {
      if (!(fault instanceof Error) || !EXPLAINED.some((kind) => fault instanceof kind)) throw fault;
      faults.push(fault);
    }
  };
  await judge(() => refuseUnusableDirectory(config.dataDirectory));
  if (owner === undefined) {
    await judge(() => readCatalogue(config));
    return faults;
  }
  let hasSchema = false;
  await judge(async () => ({ hasSchema } = await judgeMigration(owner)));
  if (!hasSchema || (await selectDirectoryUrl(owner)) === undefined) await judge(() => readCatalogue(config));
  if (config.databaseUrl !== undefined) await judge(() => refuseUnfit(config, log, { owner, hasSchema }));
  return faults;
}

/** Throws all that `judgeStart` finds: as `SetupError`, unless all of it may pass without anybody's doing. */
export async function refuseStart(config: Config, owner: Pool, log: Log): Promise<void> {
  const faults = await faultsOf(config, owner, log);
  if (faults.length === 0) return;
  const mayPass = faults.every((fault) => fault instanceof StartError && !(fault instanceof SetupError));
  throw new (mayPass ? StartError : SetupError)(faults.map(({ message }) => message).join('\n'));
}
