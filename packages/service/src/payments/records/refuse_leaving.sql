-- Nothing about the payments of a wallet changes while it is leaving this cell, or after it has left: the rows were copied before, and are deleted
-- here. The processor and people try again in a moment. A sweep may still note when it looks again: it claims many rows at once, and that note matters to
-- nobody.
create or replace function payments.refuse_leaving() returns trigger
language plpgsql security definer set search_path = pg_catalog as $$
begin
  if tg_table_name = 'dispute_movements' then
    perform ledger.refuse_leaving(p.app_id, p.user_id) from payments.payments p where p.payment_id = new.payment_id;
  else
    perform ledger.refuse_leaving(new.app_id, new.user_id);
  end if;
  return new;
end $$;

revoke all on function payments.refuse_leaving from public;

create or replace trigger checkouts_here before insert or update of processor_checkout, identity_id on payments.checkouts
  for each row execute function payments.refuse_leaving();
create or replace trigger payments_here before insert or update on payments.payments
  for each row execute function payments.refuse_leaving();
create or replace trigger refunds_here before insert or update of state, booked_as, processor_refund on payments.refunds
  for each row execute function payments.refuse_leaving();
create or replace trigger cases_here before insert or update on payments.cases
  for each row execute function payments.refuse_leaving();
create or replace trigger movements_here before insert or update on payments.dispute_movements
  for each row execute function payments.refuse_leaving();
