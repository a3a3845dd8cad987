import type { Settings } from '#cli/ground/ground.ts';
import { judgeUpgrade } from '#db/schema/judge-upgrade.ts';
import { MigrationError, SCHEMA_VERSION } from '#db/schema/migrate.ts';
import { createPool } from '#db/pool/pool.ts';

/**
 * Says whether gateways can go over to this build one after another while those of the database's present schema run. Changes
 * nothing. Exit status 1 if not.
 */
export async function checkUpgrade({ config, log }: Settings): Promise<number> {
  if (config.databaseUrl === undefined) {
    console.log('Not rolling: without DATABASE_URL, the database stops with its service.');
    return 1;
  }
  const owner = createPool({ url: config.databaseUrl, role: 'owner', connectionsMax: 1, log });
  try {
    const { from, migrations, functions, oldest, isRolling } = await judgeUpgrade(owner);
    if (from === 0) {
      console.log('Nothing to upgrade: no Purser has used this database. Check DATABASE_URL.');
      return 1;
    }
    console.log(
      from > SCHEMA_VERSION
        ? `The database has schema ${from}, and this older build (${SCHEMA_VERSION}) can run on it.`
        : `The database has schema ${from}, and this build ${SCHEMA_VERSION}. The first start applies ${migrations.length} migrations and ${functions} functions.`,
    );
    console.log(isRolling ? ROLLING : notRolling(oldest));
    return isRolling ? 0 : 1;
  } catch (fault) {
    if (!(fault instanceof MigrationError)) throw fault;
    console.log(`No start: ${fault.message}`);
    return 1;
  } finally {
    await owner.end();
  }
}

const ROLLING = 'Rolling: yes. Gateways of both builds may run side by side, and you can go back.';

function notRolling(oldest: number | undefined): string {
  return `Rolling: no. Afterwards only builds from schema ${oldest} on can use the database. Stop all gateways and back up first: going back means restoring that backup.`;
}
