-- Bars the wallets of a slot that moves to another cell: no call holds, and no act moves their money. Calls that hold go on, and settle. Safe to
-- repeat. Gives how many wallets there are.
--
-- No wallet of the slot is opened any more: ledger.refuse_foreign_wallet sees that it moves.
create or replace function ledger.leave(p_slot integer, p_move integer) returns bigint
language plpgsql set search_path = pg_catalog as $$
begin
  perform from cells.slots s where s.slot = p_slot and s.moves = p_move and s.moving_to is not null for share;
  if not found then
    raise exception 'the move % of slot % has ended', p_move, p_slot;
  end if;
  -- Stronger than the lock of a call: ledger.refuse_leaving waits for it.
  perform from ledger.wallets w where cells.slot_of(w.app_id, w.user_id) = p_slot order by w.wallet_id for update;
  insert into ledger.leaving as leaving (wallet_id, app_id, user_id, slot, move, was_connected)
  select w.wallet_id, w.app_id, w.user_id, p_slot, p_move, w.is_connected
  from ledger.wallets w where cells.slot_of(w.app_id, w.user_id) = p_slot
  on conflict (wallet_id) do update set move = excluded.move where leaving.left_at is null and leaving.move < excluded.move;
  update ledger.wallets w set is_connected = false, version = w.version + 1
  from ledger.leaving l
  where l.slot = p_slot and l.left_at is null and w.wallet_id = l.wallet_id and w.is_connected;
  return (select count(*) from ledger.leaving l where l.slot = p_slot and l.left_at is null);
end $$;

revoke all on function ledger.leave from public;
