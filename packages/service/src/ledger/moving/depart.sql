-- Books the money of the wallets that are barred for a move out of this cell, after it has arrived in the other one. They stay here without money,
-- barred, and not suspended: that waits for an operator in the other cell now. Gives how many left now, with what they had and what they owed. Safe
-- to repeat: then it is none.
create or replace function ledger.depart(p_slot integer, p_move integer) returns table (wallets bigint, balance bigint, owed bigint)
language plpgsql set search_path = pg_catalog as $$
#variable_conflict use_column
declare
  gone record;
  n bigint := 0;
  had bigint := 0;
  due bigint := 0;
begin
  for gone in
    select w.wallet_id, w.balance_micros, w.held_micros, w.shortfall_micros, l.move
    from ledger.leaving l join ledger.wallets w on w.wallet_id = l.wallet_id
    where l.slot = p_slot and l.move = p_move and l.left_at is null
    order by w.wallet_id for no key update of w
  loop
    if gone.held_micros > 0 then
      raise exception 'wallet % holds money', gone.wallet_id;
    end if;
    if gone.balance_micros > 0 then
      perform ledger.move(gone.wallet_id, 'moved_out', 'moved_out:' || gone.wallet_id || ':' || gone.move, gone.balance_micros);
    end if;
    if gone.shortfall_micros > 0 then
      perform ledger.move(gone.wallet_id, 'owed_out', 'owed_out:' || gone.wallet_id || ':' || gone.move, gone.shortfall_micros);
    end if;
    n := n + 1;
    had := had + gone.balance_micros;
    due := due + gone.shortfall_micros;
  end loop;
  update ledger.wallets w set is_suspended = false, version = w.version + 1
  from ledger.leaving l
  where l.slot = p_slot and l.move = p_move and l.left_at is null and w.wallet_id = l.wallet_id and w.is_suspended;
  update ledger.leaving l set left_at = clock_timestamp() where l.slot = p_slot and l.move = p_move and l.left_at is null;
  return query select n, had, due;
end $$;

revoke all on function ledger.depart from public;
