-- Nobody begins a payment into a wallet that is leaving this cell or has left it: its checkouts move with it.
create or replace function payments.refuse_leaving_checkout() returns trigger
language plpgsql security definer set search_path = pg_catalog as $$
begin
  perform ledger.refuse_leaving(new.app_id, new.user_id);
  return new;
end $$;

revoke all on function payments.refuse_leaving_checkout from public;

create or replace trigger checkouts_of_wallets_here before insert on payments.checkouts
  for each row execute function payments.refuse_leaving_checkout();
