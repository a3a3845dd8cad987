import type { Queryable } from '../../packages/service/src/db/pool/pool.ts';
import * as catalog from './catalog.ts';

/** What this database server shares between databases: made where it is missing, so that the text can be loaded anywhere. */
const ROLES = `do $$
declare
  lane text;
begin
  foreach lane in array array['purser_live', 'purser_sandbox'] loop
    if not exists (select from pg_roles r where r.rolname = lane) then
      execute format('create role %I nologin', lane);
    end if;
  end loop;
end $$;`;

/**
 * The schema of a database as SQL, the same for two databases that have the same schema. Functions are shown by their
 * signatures; with `bodies`, by their whole text and with the parts of tables, and the schema can be loaded into an empty database.
 */
export async function describeSchema(db: Queryable, { bodies }: { readonly bodies: boolean }): Promise<string> {
  const tables = await catalog.readTables(db);
  const functions = await catalog.readFunctions(db);
  const parts = [bodies ? `set check_function_bodies = off;\n\n${ROLES}` : ROLES];
  for (const schema of await catalog.readSchemas(db)) {
    const own = tables.filter((table) => table.schema === schema.name);
    parts.push(
      [`-- ${schema.name}\n`, `create schema ${schema.name};`, ...schema.grants].join('\n'),
      ...(await catalog.readTypes(db, schema.name)),
      ...(await catalog.readSequences(db, schema.name)),
      ...own.map(tableText),
      ...own.flatMap(({ foreignKeys }) => foreignKeys),
    );
  }
  if (bodies) parts.push(...(await catalog.readParts(db)));
  parts.push('-- Views', ...(await catalog.readViews(db)));
  parts.push('-- Functions', ...functions.map((one) => (bodies ? one.definition : one.signature)));
  const attached = [
    ...tables.flatMap(({ functionChecks }) => functionChecks),
    ...(await catalog.readTriggers(db, { ofParts: bodies })),
  ];
  parts.push('-- What hangs on functions', ...attached);
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function tableText({ name, lines, options, isUnlogged, partitionedBy, indexes, grants }: catalog.Table): string {
  const body = lines.map((line) => `  ${line}`).join(',\n');
  return [
    `create ${isUnlogged ? 'unlogged ' : ''}table ${name} (\n${body}\n)${partitionedBy === undefined ? '' : ` partition by ${partitionedBy}`}${options};`,
    ...indexes,
    ...grants,
  ].join('\n');
}
