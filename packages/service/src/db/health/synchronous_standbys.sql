-- The synchronous standbys that stream now, physical ones only: a subscription to a table confirms commits too, and has no charge. Where
-- any of a quorum may confirm and a subscription is in it, no standby is sure to have a commit, so those of the quorum do not count.
-- Only a superuser and members of pg_read_all_stats see the state of a standby. So it runs as the owner, who may be granted that, and
-- without that right it is null.
create or replace function db.synchronous_standbys() returns int
language plpgsql stable security definer set search_path = pg_catalog as $$
begin
  if not pg_has_role('pg_read_all_stats', 'usage') then
    return null;
  end if;
  return (
    select count(*) filter (where not s.is_logical and (s.sync_state = 'sync' or not s.is_mixed))
    from (
      select r.sync_state, l.is_logical, bool_or(l.is_logical and r.sync_state = 'quorum') over () as is_mixed
      from pg_stat_replication r
      cross join lateral (select exists (
        select from pg_replication_slots p where p.active_pid = r.pid and p.slot_type = 'logical') as is_logical) l
      where r.state = 'streaming' and r.sync_state in ('sync', 'quorum')
    ) s);
end $$;

revoke all on function db.synchronous_standbys from public;
grant execute on function db.synchronous_standbys to purser_live;
