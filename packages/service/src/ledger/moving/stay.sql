-- Lifts the bars of ledger.leave that a move, or an earlier one of the slot, has put on wallets that have not left. The move must have been given
-- up for good, so that nobody copies them any more. Safe to repeat.
create or replace function ledger.stay(p_slot integer, p_move integer) returns void
language plpgsql set search_path = pg_catalog as $$
begin
  perform from ledger.wallets w
  where w.wallet_id in (select l.wallet_id from ledger.leaving l where l.slot = p_slot and l.move <= p_move and l.left_at is null)
  order by w.wallet_id for no key update;
  update ledger.wallets w set is_connected = true, version = w.version + 1
  from ledger.leaving l
  where l.slot = p_slot and l.move <= p_move and l.left_at is null and w.wallet_id = l.wallet_id and l.was_connected;
  delete from ledger.leaving l where l.slot = p_slot and l.move <= p_move and l.left_at is null;
end $$;

revoke all on function ledger.stay from public;
