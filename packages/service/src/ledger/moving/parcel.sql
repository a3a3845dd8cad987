-- All that the ledger knows of the wallets of a slot and that must be the same after a move: money, limits, and the acts that count once. What a
-- wallet holds is not in it: a slot moves when nothing is held. `move` is the one for which the wallet is barred, see ledger.leave.
create or replace function ledger.parcel(p_slot integer) returns table (wallet_id bigint, version bigint, move integer, facts jsonb)
language sql stable set search_path = pg_catalog as $$
  select w.wallet_id, w.version, l.move, jsonb_build_object(
    'wallet_id', w.wallet_id, 'app_id', w.app_id, 'user_id', w.user_id, 'currency', w.currency,
    'is_connected', coalesce(l.was_connected, w.is_connected), 'is_suspended', w.is_suspended,
    'balance_micros', w.balance_micros, 'shortfall_micros', w.shortfall_micros, 'cap_micros', w.cap_micros,
    'cap_month', w.cap_month, 'cap_spent_micros', w.cap_spent_micros,
    'owner_deleted_at', w.owner_deleted_at, 'created_at', w.created_at, 'first_connected_at', w.first_connected_at,
    'acts', (
      select coalesce(jsonb_agg(jsonb_build_array(a.cause, a.kind, a.amount_micros) order by a.cause, a.kind), '[]')
      from (
        select j.cause, j.kind, j.amount_micros from ledger.journal j
        where j.wallet_id = w.wallet_id and ledger.is_act(j.kind)
        union all
        select e.cause, e.kind, e.amount_micros from ledger.earlier_acts e where e.wallet_id = w.wallet_id
      ) a
    ))
  from ledger.wallets w
  left join ledger.leaving l on l.wallet_id = w.wallet_id
  where cells.slot_of(w.app_id, w.user_id) = p_slot and l.left_at is null
  order by w.wallet_id
$$;

revoke all on function ledger.parcel from public;
