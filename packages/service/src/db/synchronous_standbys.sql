-- The number of synchronous standbys that stream now. Only a superuser and members of pg_read_all_stats see the state of a standby. So it
-- runs as the owner, who may be granted that, and without that right it is null.
create or replace function db.synchronous_standbys() returns int
language plpgsql stable security definer set search_path = pg_catalog as $$
begin
  if not pg_has_role('pg_read_all_stats', 'usage') then
    return null;
  end if;
  return (select count(*) from pg_stat_replication r where r.state = 'streaming' and r.sync_state in ('sync', 'quorum'));
end $$;

revoke all on function db.synchronous_standbys from public;
grant execute on function db.synchronous_standbys to purser_live;
