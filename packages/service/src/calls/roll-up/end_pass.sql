-- Notes that all charges that had committed when the pass began are in the sums, among them those of calls before `p_from`, of which
-- there will be no more; and when the next pass may begin.
create or replace function stats.end_pass(p_pause_ms int, p_from uuid default '00000000-0000-0000-0000-000000000000') returns void
language sql security definer set search_path = pg_catalog as $$
  update stats.passes set ended_at = clock_timestamp(), due_at = clock_timestamp() + p_pause_ms * interval '1 millisecond',
    from_call = greatest(from_call, p_from)
$$;

revoke all on function stats.end_pass from public;
grant execute on function stats.end_pass to purser_live;
