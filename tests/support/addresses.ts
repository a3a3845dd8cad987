import type { Pool } from '../../packages/service/src/db/pool/pool.ts';
import { sql } from './sql.ts';

/** An address of the tests, in a text or in bytes. */
const ADDRESS = `@example\\.test|${Buffer.from('@example.test').toString('hex')}`;

/** The tables that hold a plain e-mail address in any column, as a dump of the database would show it. */
export async function tablesWithAddresses(owner: Pool): Promise<readonly string[]> {
  const tables = await sql<{ name: string }>(owner)`select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`;
  const found = tables.map(
    ({ name }) => `select '${name}' as name where exists (select from ${name} t where t::text ~ $1)`,
  );
  const { rows } = await owner.query<{ name: string }>(found.join(' union all '), [ADDRESS]);
  return rows.map(({ name }) => name);
}
