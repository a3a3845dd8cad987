-- The least call that a receipt may still come for: a pass that begins now is over all receipts before it, see ledger.open_from.
create or replace function stats.pass_from() returns uuid
language sql stable security definer set search_path = pg_catalog as $$
  select ledger.open_from()
$$;

revoke all on function stats.pass_from from public;
grant execute on function stats.pass_from to purser_live;
