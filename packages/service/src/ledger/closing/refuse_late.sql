-- A closed month takes no receipt. No call gets there: ledger.bar_month lets no hold be placed that could end in it.
create or replace function ledger.refuse_late() returns trigger language plpgsql as $$
begin
  raise exception 'the month of this receipt is closed';
end $$;

revoke all on function ledger.refuse_late from public;
