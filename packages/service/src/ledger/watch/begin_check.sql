-- Whether it is the caller's turn to check what is new: true for one process in each period. The others only read what
-- that one has found.
create or replace function ledger.begin_check(p_period_ms int) returns boolean
language plpgsql security definer set search_path = pg_catalog as $$
begin
  update ledger.last_check l set begun_at = clock_timestamp()
  where l.begun_at <= clock_timestamp() - p_period_ms * interval '1 millisecond';
  return found;
end $$;

revoke all on function ledger.begin_check from public;
grant execute on function ledger.begin_check to purser_live;
