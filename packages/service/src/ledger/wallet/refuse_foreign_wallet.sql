-- A user has one wallet in all cells. So none is opened where the user does not belong, also if a gateway
-- is wrong about that. The row of the slot is held, so that the slot is not given away before the wallet is seen.
create or replace function ledger.refuse_foreign_wallet() returns trigger
language plpgsql security definer set search_path = pg_catalog as $$
declare
  own constant text := (select o.cell from cells.own o);
  its cells.slots;
begin
  if own is null then
    return new;
  end if;
  select s.* into its from cells.slots s where s.slot = cells.slot_of(new.app_id, new.user_id) for share;
  if its.moving_to = own and not new.is_connected then
    return new; -- It arrives, see ledger.arrive.
  elsif its.cell is distinct from own then
    raise exception 'the user of this wallet belongs to the cell %', its.cell
      using errcode = 'check_violation', constraint = 'wallets_of_own_slots', detail = its.cell;
  elsif its.moving_to is not null then
    raise exception 'the user of this wallet is given to another cell' using errcode = 'PC002';
  end if;
  return new;
end $$;

revoke all on function ledger.refuse_foreign_wallet from public;

create or replace trigger wallets_of_own_slots before insert on ledger.wallets
  for each row execute function ledger.refuse_foreign_wallet();
