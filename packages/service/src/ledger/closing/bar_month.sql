-- Bars a month that has ended, and all before it, for good: no call that began in it can hold money any more, so none can end in
-- it. Fails with a check violation while such a call holds. All receipts of the month have committed when this
-- returns: their writers changed ledger.holds before, and this waits for them. Safe to repeat.
create or replace function ledger.bar_month(p_month date) returns void
language plpgsql set search_path = pg_catalog as $$
declare
  before_call constant uuid := (select m.before_call from ledger.months m where m.month = p_month);
begin
  execute format('alter table ledger.holds drop constraint if exists calls_are_of_open_months,
    add constraint calls_are_of_open_months check (call_id >= %L)', before_call);
  execute format('create or replace trigger calls_closed before insert on %s for each row execute function ledger.refuse_late()',
    ledger.receipts_of(p_month));
end $$;

revoke all on function ledger.bar_month from public;
