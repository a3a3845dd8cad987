-- How many calls still hold money of wallets that are leaving with this slot. Running calls alone have a hold, so the table is read once.
create or replace function ledger.holds_of_slot(p_slot integer) returns bigint
language sql stable set search_path = pg_catalog as $$
  select count(*) from ledger.holds h join ledger.leaving l on l.wallet_id = h.wallet_id where l.slot = p_slot and l.left_at is null
$$;

revoke all on function ledger.holds_of_slot from public;
