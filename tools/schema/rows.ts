import type { Queryable } from '../../packages/service/src/db/pool/pool.ts';

/** The rows of every table of ours, and where the sequences stand, as SQL for a database that has the schema and no rows. */
export async function describeRows(db: Queryable): Promise<string> {
  await db.query(`set timezone = 'UTC'`);
  const { rows: tables } = await db.query<{ name: string; columns: readonly string[] }>(
    `select c.oid::regclass::text as name, array(
       select quote_ident(a.attname) from pg_attribute a
       where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped order by a.attnum
     ) as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and not c.relispartition and n.nspname !~ '^pg_' and n.nspname not in ('information_schema', 'public')
     order by n.nspname collate "C", c.relname collate "C"`,
  );
  // Neither foreign keys nor triggers look at rows that come from a dump.
  const parts = ['set session_replication_role = replica;'];
  for (const { name, columns } of tables) {
    const values = columns.map((column) => `quote_nullable(t.${column}::text)`).join(` || ', ' || `);
    const { rows } = await db.query<{ row: string }>(`select '(' || ${values} || ')' as row from ${name} t order by 1`);
    if (rows.length === 0) continue;
    const into = `insert into ${name} (${columns.join(', ')}) overriding system value values`;
    parts.push(`${into}\n  ${rows.map(({ row }) => row).join(',\n  ')};`);
  }
  parts.push('reset session_replication_role;', ...(await sequences(db)));
  return `${parts.join('\n\n')}\n`;
}

async function sequences(db: Queryable): Promise<readonly string[]> {
  const { rows } = await db.query<{ text: string }>(
    `select format('select setval(%L, %s);', quote_ident(s.schemaname) || '.' || quote_ident(s.sequencename), s.last_value) as text
     from pg_sequences s where s.last_value is not null order by s.schemaname collate "C", s.sequencename collate "C"`,
  );
  return rows.map(({ text }) => text);
}
