-- The finished parts of the log that wait to be archived, and for how many seconds the oldest has waited, or longer. The server counts no
-- failure of a command that it does not find, may not run, or that was killed, so its counters do not tell. Only a superuser and members
-- of pg_monitor see the parts themselves. So it runs as the owner, who may be granted that. Without that right, it is the distance to the
-- last archived part, and null if there is none. Zero without an archive.
create or replace function db.archive_backlog(out parts int, out seconds float8)
language plpgsql stable security definer set search_path = pg_catalog as $$
declare
  bytes constant bigint := pg_size_bytes(current_setting('wal_segment_size'));
  kept text;
  age float8;
begin
  parts := 0;
  seconds := 0;
  if current_setting('archive_mode') = 'off' or pg_is_in_recovery() then
    return;
  end if;
  if has_function_privilege('pg_ls_archive_statusdir()', 'execute') then
    select count(*), coalesce(extract(epoch from clock_timestamp() - min(f.modification)), 0) into parts, seconds
    from pg_ls_archive_statusdir() f where f.name like '%.ready';
    return;
  end if;
  select substring(a.last_archived_wal from '^[0-9A-F]{24}$'), extract(epoch from clock_timestamp() - a.last_archived_time)
  into kept, age from pg_stat_archiver a;
  parts := div(pg_current_wal_lsn() - '0/0', bytes) - 1
    - ('x' || substr(kept, 9, 8))::bit(32)::bigint * (4294967296 / bytes) - ('x' || substr(kept, 17))::bit(32)::bigint;
  if parts <= 0 then
    parts := 0; -- The server has just begun another part.
    age := 0;
  end if;
  seconds := case when parts is not null then age end;
end $$;

revoke all on function db.archive_backlog from public;
grant execute on function db.archive_backlog to purser_live;
