import type { Queryable } from '../../packages/service/src/db/pool/pool.ts';

/** What the catalogs of PostgreSQL say of a database, as lines of SQL in a fixed order. */

export interface Table {
  readonly schema: string;
  readonly name: string;
  /** Columns in their order, then constraints. */
  readonly lines: readonly string[];
  readonly options: string;
  /** A crash of the server empties it. */
  readonly isUnlogged: boolean;
  /** How it is partitioned, such as `range (call_id)`: it then has no rows of its own. It is undefined if it has. */
  readonly partitionedBy: string | undefined;
  readonly indexes: readonly string[];
  readonly grants: readonly string[];
  /** Statements that come after all tables. */
  readonly foreignKeys: readonly string[];
  /** Checks that call functions of ours: statements that come after all functions. */
  readonly functionChecks: readonly string[];
}

export interface DatabaseFunction {
  /** One comment line or more. */
  readonly signature: string;
  readonly definition: string;
}

const OURS = `n.nspname !~ '^pg_' and n.nspname not in ('information_schema', 'public')`;

export async function readSchemas(
  db: Queryable,
): Promise<readonly { readonly name: string; readonly grants: readonly string[] }[]> {
  const { rows } = await db.query<{ name: string; acl: readonly string[] | null }>(
    `select n.nspname as name, n.nspacl::text[] as acl from pg_namespace n where ${OURS} order by n.nspname collate "C"`,
  );
  return rows.map(({ name, acl }) => ({ name, grants: grantsOf(acl, { U: 'usage', C: 'create' }, `schema ${name}`) }));
}

/** Enumerations and records. */
export async function readTypes(db: Queryable, schema: string): Promise<readonly string[]> {
  const { rows } = await db.query<{ text: string }>(
    `select 'create type ' || t.oid::regtype || case t.typtype
       when 'e' then ' as enum (' || (
         select string_agg(quote_literal(e.enumlabel), ', ' order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid
       )
       else ' as (' || (
         select string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' order by a.attnum)
         from pg_attribute a where a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
       ) end || ');' as text
     from pg_type t left join pg_class c on c.oid = t.typrelid
     where t.typnamespace = $1::regnamespace and (t.typtype = 'e' or c.relkind = 'c')
     order by t.typname collate "C"`,
    [schema],
  );
  return rows.map(({ text }) => text);
}

/** Those that belong to no column. */
export async function readSequences(db: Queryable, schema: string): Promise<readonly string[]> {
  const { rows } = await db.query<{ name: string; acl: readonly string[] | null }>(
    `select c.oid::regclass::text as name, c.relacl::text[] as acl from pg_class c
     where c.relkind = 'S' and c.relnamespace = $1::regnamespace
       and not exists (select from pg_depend d where d.objid = c.oid and d.deptype in ('i', 'a'))
     order by c.relname collate "C"`,
    [schema],
  );
  return rows.map(({ name, acl }) =>
    [`create sequence ${name};`, ...grantsOf(acl, { r: 'select', w: 'update', U: 'usage' }, `sequence ${name}`)].join(
      '\n',
    ),
  );
}

export async function readTables(db: Queryable): Promise<readonly Table[]> {
  const { rows } = await db.query<{
    schema: string;
    name: string;
    options: readonly string[] | null;
    is_unlogged: boolean;
    partitioned_by: string | null;
    acl: readonly string[] | null;
    columns: readonly string[];
    column_acls: readonly { name: string; acl: readonly string[] }[] | null;
    constraints: readonly { name: string; type: string; text: string; calls: boolean }[] | null;
    indexes: readonly string[] | null;
  }>(TABLES);
  return rows.map(
    ({
      schema,
      name,
      options,
      is_unlogged: isUnlogged,
      partitioned_by: by,
      acl,
      columns,
      column_acls: columnAcls,
      constraints,
      indexes,
    }) => {
      const all = constraints ?? [];
      const added = (one: { name: string; text: string }): string =>
        `alter table ${name} add constraint ${one.name} ${one.text};`;
      return {
        schema,
        name,
        lines: [
          ...columns,
          ...all.filter(({ type, calls }) => type !== 'f' && !calls).map((one) => `constraint ${one.name} ${one.text}`),
        ],
        partitionedBy: by ?? undefined,
        isUnlogged,
        options: options === null ? '' : ` with (${options.map((option) => option.replace('=', ' = ')).join(', ')})`,
        indexes: (indexes ?? []).map((text) => `${text.replace(' ON ONLY ', ' ON ')};`),
        grants: [
          ...grantsOf(acl, TABLE_RIGHTS, name),
          ...(columnAcls ?? []).flatMap((column) => grantsOf(column.acl, TABLE_RIGHTS, name, column.name)),
        ],
        foreignKeys: all.filter(({ type }) => type === 'f').map(added),
        functionChecks: all.filter(({ type, calls }) => type !== 'f' && calls).map(added),
      };
    },
  );
}

const TABLE_RIGHTS = { r: 'select', a: 'insert', w: 'update', d: 'delete' };

/** PostgreSQL 18 lists what is not null among the constraints as well: those are shown with their columns. */
const TABLES = `
  select n.nspname as schema, c.oid::regclass::text as name, c.reloptions as options, c.relpersistence = 'u' as is_unlogged,
    case when c.relkind = 'p' then pg_get_partkeydef(c.oid) end as partitioned_by, c.relacl::text[] as acl,
    (
      select array_agg(
        a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
        || case when a.attcollation <> t.typcollation then ' collate "' || l.collname || '"' else '' end
        || case when a.attidentity = 'a' then ' generated always as identity' else '' end
        || case when d.adbin is null then '' else ' default ' || pg_get_expr(d.adbin, d.adrelid) end
        || case when a.attnotnull then ' not null' else '' end
        order by a.attnum)
      from pg_attribute a
      join pg_type t on t.oid = a.atttypid
      left join pg_collation l on l.oid = a.attcollation
      left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    ) as columns,
    (
      select json_agg(json_build_object('name', a.attname, 'acl', a.attacl::text[]) order by a.attnum)
      from pg_attribute a where a.attrelid = c.oid and a.attacl is not null and not a.attisdropped
    ) as column_acls,
    (
      select json_agg(json_build_object('name', k.conname, 'type', k.contype, 'text', pg_get_constraintdef(k.oid),
        'calls', exists (
          select from pg_depend d
          where d.classid = 'pg_constraint'::regclass and d.objid = k.oid and d.refclassid = 'pg_proc'::regclass
        )) order by k.contype = 'p' desc, k.conname collate "C")
      from pg_constraint k where k.conrelid = c.oid and k.contype in ('p', 'u', 'c', 'f', 'x')
    ) as constraints,
    (
      select array_agg(pg_get_indexdef(i.indexrelid) order by pg_get_indexdef(i.indexrelid) collate "C")
      from pg_index i
      where i.indrelid = c.oid and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.conrelid = c.oid)
    ) as indexes
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p') and not c.relispartition and ${OURS}
  order by n.nspname collate "C", c.relname collate "C"`;

/** The parts of tables, with the indexes and grants that they do not have from the whole. Which there are depends on the day. */
export async function readParts(db: Queryable): Promise<readonly string[]> {
  const { rows } = await db.query<{ text: string; indexes: readonly string[] | null }>(
    `select format('create table %s partition of %s %s;', c.oid::regclass, i.inhparent::regclass, pg_get_expr(c.relpartbound, c.oid))
       as text, (
         select array_agg(pg_get_indexdef(x.indexrelid) || ';' order by pg_get_indexdef(x.indexrelid) collate "C")
         from pg_index x join pg_class xc on xc.oid = x.indexrelid
         where x.indrelid = c.oid and not xc.relispartition
       ) as indexes
     from pg_class c join pg_inherits i on i.inhrelid = c.oid join pg_namespace n on n.oid = c.relnamespace
     where c.relispartition and c.relkind = 'r' and ${OURS}
     order by n.nspname collate "C", c.relname collate "C"`,
  );
  return rows.map(({ text, indexes }) => [text, ...(indexes ?? [])].join('\n'));
}

/** Views of any schema: a view may read tables of several. */
export async function readViews(db: Queryable): Promise<readonly string[]> {
  const { rows } = await db.query<{ name: string; definition: string; acl: readonly string[] | null }>(
    `select c.oid::regclass::text as name, pg_get_viewdef(c.oid) as definition, c.relacl::text[] as acl
     from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind = 'v' and ${OURS}
     order by n.nspname collate "C", c.relname collate "C"`,
  );
  return rows.map(({ name, definition, acl }) =>
    [`create view ${name} as\n${definition}`, ...grantsOf(acl, TABLE_RIGHTS, name)].join('\n'),
  );
}

export async function readFunctions(db: Queryable): Promise<readonly DatabaseFunction[]> {
  const { rows } = await db.query<{
    name: string;
    identity: string;
    args: string;
    result: string;
    traits: readonly string[];
    acl: readonly string[] | null;
    definition: string;
  }>(
    `select p.oid::regproc::text as name, p.oid::regprocedure::text as identity, pg_get_function_arguments(p.oid) as args,
       pg_get_function_result(p.oid) as result, p.proacl::text[] as acl, pg_get_functiondef(p.oid) as definition,
       array_remove(array[
         l.lanname::text, case p.provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end,
         case when p.prosecdef then 'security definer' end
       ] || coalesce(p.proconfig, '{}'), null) as traits
     from pg_proc p join pg_namespace n on n.oid = p.pronamespace join pg_language l on l.oid = p.prolang
     where ${OURS}
     order by p.oid::regprocedure::text collate "C"`,
  );
  return rows.map(({ name, identity, args, result, traits, acl, definition }) => {
    const grants = grantsOf(acl, { X: 'execute' }, `function ${identity}`);
    const isPublic = acl === null || acl.some((entry) => entry.startsWith('='));
    const revoked = isPublic ? [] : [`revoke all on function ${identity} from public;`];
    return {
      signature: [`-- ${name}(${args}) returns ${result}`, `--   ${traits.join(', ')}`, ...grants].join('\n'),
      definition: [`${definition.trimEnd()};`, ...revoked, ...grants].join('\n'),
    };
  });
}

export async function readTriggers(
  db: Queryable,
  { ofParts }: { readonly ofParts: boolean },
): Promise<readonly string[]> {
  const { rows } = await db.query<{ text: string }>(
    `select pg_get_triggerdef(t.oid) || ';' as text
     from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
     where not t.tgisinternal and t.tgparentid = 0 and (not c.relispartition or $1) and ${OURS}
     order by n.nspname collate "C", c.relname collate "C", t.tgname collate "C"`,
    [ofParts],
  );
  return rows.map(({ text }) => text);
}

/** Grants to the roles of the lanes. What the owner may do is no grant. */
function grantsOf(
  acl: readonly string[] | null,
  rights: Readonly<Record<string, string>>,
  object: string,
  column?: string,
): readonly string[] {
  return (acl ?? [])
    .map((entry) => /^(\w*)=([a-zA-Z*]+)\//.exec(entry))
    .filter((match) => match !== null)
    .filter(([, role = '']) => role.startsWith('purser_'))
    .map(([, role = '', letters = '']) => {
      const named = letters.split('').map((letter) => {
        const right = rights[letter];
        if (right === undefined) throw new Error(`The right ${letter} on ${object} has no name here.`);
        return column === undefined ? right : `${right} (${column})`;
      });
      return `grant ${named.join(', ')} on ${object} to ${role};`;
    })
    .toSorted();
}
