import { missingFunctions } from '#db/schema/functions.ts';
import { judgeMigration, missingMigrations, readSchema } from '#db/schema/migrate.ts';
import type { Pool } from '#db/pool/pool.ts';
import { selectFunctions } from '#db/schema/queries.ts';

/** How a migration says from which schema on builds can still use the database. Each such migration writes its own number. */
const OLDEST = /update\s+db\.compatibility\s+set\s+oldest_schema\s*=\s*(\d+)/gi;

/** What the first start of this build would change in a database, and whether builds of its present schema may run beside. */
interface Upgrade {
  /** The schema that the database has, 0 if it has none of ours. */
  readonly from: number;
  readonly migrations: readonly string[];
  /** How many SQL functions would be made, replaced or dropped. */
  readonly functions: number;
  /** The oldest schema whose builds could run on it afterwards. Undefined if that stays as it is. */
  readonly oldest: number | undefined;
  readonly isRolling: boolean;
}

/** Judges an upgrade to this build (decision 80), and changes nothing. Throws `MigrationError` for what a start would refuse. */
export async function judgeUpgrade(owner: Pool): Promise<Upgrade> {
  const { hasSchema } = await judgeMigration(owner);
  if (!hasSchema) return { from: 0, migrations: [], functions: 0, oldest: undefined, isRolling: false };
  const { version: from } = await readSchema(owner);
  const missing = missingMigrations(from);
  const { changed, gone } = missingFunctions(await selectFunctions(owner));
  const oldest = oldestAfter(missing.map(({ sql }) => sql));
  return {
    from,
    migrations: missing.map(({ name }) => name),
    functions: changed.length + gone.length,
    oldest,
    isRolling: oldest === undefined || from >= oldest,
  };
}

/** Returns the oldest schema that these migrations leave, if they name one. */
export function oldestAfter(migrations: readonly string[]): number | undefined {
  const named = migrations.flatMap((sql) => [...sql.matchAll(OLDEST)].map(([, number]) => Number(number)));
  return named.length === 0 ? undefined : Math.max(...named);
}
