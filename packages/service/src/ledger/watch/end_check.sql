-- Notes what the check has found, for every process to show in its metrics.
create or replace function ledger.end_check(p_differences bigint) returns void
language sql security definer set search_path = pg_catalog as $$
  update ledger.last_check set ended_at = clock_timestamp(), differences = p_differences
$$;

revoke all on function ledger.end_check from public;
grant execute on function ledger.end_check to purser_live;
