-- Takes in a wallet of another cell, as ledger.parcel described it there. A wallet that was here before and left goes on with its old row.
--
-- Its id is the same, so causes are. Its version goes on, because ids of events are made of it. Its entries here begin with its balance: those
-- from before stay where they were made.
create or replace function ledger.arrive(p_move integer, p_version bigint, p_facts jsonb) returns void
language plpgsql set search_path = pg_catalog as $$
declare
  came constant ledger.wallets := jsonb_populate_record(null::ledger.wallets, p_facts);
  cause constant text := came.wallet_id || ':' || p_move;
  there ledger.wallets;
  elsewhere bigint := came.cap_spent_micros;
  seen bigint := p_version; -- The last version that anybody has seen.
begin
  select w.* into there from ledger.wallets w where w.app_id = came.app_id and w.user_id = came.user_id for update;
  if there.wallet_id is null then
    -- Not connected yet: ledger.refuse_foreign_wallet lets only such wallets in while their slot moves.
    insert into ledger.wallets (wallet_id, app_id, user_id, currency, is_connected, is_suspended, cap_micros, cap_month, cap_spent_micros,
      version, created_at, first_connected_at, owner_deleted_at)
    overriding system value
    values (came.wallet_id, came.app_id, came.user_id, came.currency, false, came.is_suspended, came.cap_micros, came.cap_month,
      came.cap_spent_micros, p_version + 1, came.created_at, came.first_connected_at, came.owner_deleted_at);
  else
    delete from ledger.leaving l where l.wallet_id = came.wallet_id and l.wallet_id = there.wallet_id and l.left_at is not null;
    if not found then
      raise exception 'the user of wallet % has a wallet in this cell, which never left', came.wallet_id;
    end if;
    seen := greatest(seen, there.version); -- A charge that came late has counted on here.
    elsewhere := elsewhere - case when there.cap_month = came.cap_month then there.cap_spent_micros else 0 end;
    update ledger.wallets w set is_suspended = came.is_suspended, cap_micros = came.cap_micros, cap_month = came.cap_month,
      cap_spent_micros = came.cap_spent_micros, version = seen + 1, first_connected_at = came.first_connected_at,
      owner_deleted_at = came.owner_deleted_at
    where w.wallet_id = there.wallet_id;
  end if;
  if elsewhere > 0 then
    insert into ledger.spent_elsewhere (wallet_id, move, month, spent_micros) values (came.wallet_id, p_move, came.cap_month, elsewhere);
    -- The check of changes goes on from its checkpoint, and adds up receipts alone. By the version, a pass that runs now does not write over it.
    insert into ledger.checkpoints as p (wallet_id, version, entry_seq, balance_micros, shortfall_micros, held_micros, cap_month, cap_spent_micros)
    values (came.wallet_id, seen + 1, 0, 0, 0, 0, came.cap_month, elsewhere)
    on conflict (wallet_id) do update set version = excluded.version, cap_month = excluded.cap_month,
      cap_spent_micros = excluded.cap_spent_micros + case when p.cap_month = excluded.cap_month then p.cap_spent_micros else 0 end;
  end if;
  insert into ledger.earlier_acts (cause, kind, wallet_id, amount_micros)
  select a ->> 0, (a ->> 1)::ledger.entry_kind, came.wallet_id, (a ->> 2)::bigint
  from jsonb_array_elements(p_facts -> 'acts') a
  where not exists (select from ledger.journal j where j.cause = a ->> 0 and j.kind = (a ->> 1)::ledger.entry_kind)
  on conflict do nothing;
  if came.balance_micros > 0 then
    perform ledger.move(came.wallet_id, 'moved_in', 'moved_in:' || cause, came.balance_micros);
  end if;
  if came.shortfall_micros > 0 then
    perform ledger.move(came.wallet_id, 'owed_in', 'owed_in:' || cause, came.shortfall_micros);
  end if;
  update ledger.wallets w set is_connected = came.is_connected where w.wallet_id = came.wallet_id;
end $$;

revoke all on function ledger.arrive from public;
