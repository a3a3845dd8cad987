-- A turn of one process, as builds from before shared lanes ask for it. They may run beside this one during an upgrade.
create or replace function ledger.turn(
  p_instance bigint, p_settlements ledger.settlement[], p_requests db.hold_request[]
) returns uuid[]
language sql security definer set search_path = pg_catalog as $$
  select ledger.lane_turn(array_fill(p_instance, array[cardinality(p_requests)]), p_settlements, p_requests)
$$;

revoke all on function ledger.turn from public;
grant execute on function ledger.turn to purser_live;
