import type { Queryable } from '#db/pool/pool.ts';

/** Ends the current part of the log, so that it is kept now. Returns its name. */
export async function switchLog(db: Queryable): Promise<string> {
  // A part in which nothing is written yet would not end, and would not be kept either.
  await db.query(`select pg_logical_emit_message(true, 'purser', 'end of a backup')`);
  const { rows } = await db.query<{ part: string }>('select pg_walfile_name(pg_switch_wal()) as part');
  return rows[0]?.part ?? '';
}

/** Whether the server has kept this part of its log, and whether its last try failed. */
export async function selectArchiver(db: Queryable): Promise<{ readonly kept: string; readonly is_failing: boolean }> {
  const { rows } = await db.query<{ kept: string; is_failing: boolean }>(
    `select coalesce(last_archived_wal, '') as kept,
       last_failed_time is not null and last_failed_time > coalesce(last_archived_time, '-infinity') as is_failing
     from pg_stat_archiver`,
  );
  return rows[0] ?? { kept: '', is_failing: false };
}

/** The last commit that a recovery has replayed. Null if this server has recovered nothing. */
export async function selectLastReplayed(db: Queryable): Promise<Date | null> {
  const { rows } = await db.query<{ at: Date | null }>('select pg_last_xact_replay_timestamp() as at');
  return rows[0]?.at ?? null;
}

/**
 * Counters of our tables that are behind the rows: the next row would take a number that is in use. Restores of single tables leave
 * them so.
 */
export async function selectLateCounters(db: Queryable): Promise<readonly string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select format('%I.%I', n.nspname, t.relname) as name
     from pg_class s join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = s.oid and d.deptype in ('a', 'i')
       join pg_class t on t.oid = d.refobjid join pg_namespace n on n.oid = t.relnamespace
       join pg_attribute a on a.attrelid = t.oid and a.attnum = d.refobjsubid
       join pg_sequences q on q.schemaname = n.nspname and q.sequencename = s.relname
     where s.relkind = 'S' and t.relkind = 'r' and coalesce(q.last_value, 0) < coalesce((xpath('//most/text()',
       query_to_xml(format('select max(%I) as most from %I.%I', a.attname, n.nspname, t.relname), true, true, '')))[1]::text::bigint, 0)
     order by 1`,
  );
  return rows.map(({ name }) => name);
}
