-- Makes the next month for receipts, if there are not yet this one and the next two. True if it made one: then ask again. Safe
-- in several processes at once.
--
-- Calls wait only for the moment in which the table for other ids is locked. Receipts that lie there and are of the new month
-- move into it: those that gateways of an older version have written since the last month ended, or one with a wrong clock.
create or replace function ledger.make_month() returns boolean
language plpgsql security definer set search_path = pg_catalog as $$
declare
  wanted constant date := db.current_month() + interval '2 months';
  next date;
  made text;
begin
  if exists (select from ledger.months m where m.month >= wanted)
    or not pg_try_advisory_xact_lock(hashtextextended('ledger.make_month', 0)) then
    return false;
  end if;
  next := (select max(m.month) + interval '1 month' from ledger.months m);
  if next > wanted then
    return false;
  end if;
  made := ledger.receipts_of(next);
  execute format('create table %s (like usage.calls including defaults including constraints including indexes)', made);
  execute format('create unique index %s on %s (wallet_id, seq) where seq is not null', split_part(made, '.', 2) || '_entries', made);
  lock table usage.calls_other in access exclusive mode;
  if exists (
    select from usage.calls_other c where c.call_id >= ledger.first_call(next) and c.call_id < ledger.first_call((next + interval '1 month')::date)
  ) then
    alter table usage.calls_other disable trigger calls_append_only;
    execute format('insert into %s select c.* from usage.calls_other c where c.call_id >= $1 and c.call_id < $2', made)
      using ledger.first_call(next), ledger.first_call((next + interval '1 month')::date);
    delete from usage.calls_other c
    where c.call_id >= ledger.first_call(next) and c.call_id < ledger.first_call((next + interval '1 month')::date);
    alter table usage.calls_other enable trigger calls_append_only;
  end if;
  execute format('alter table usage.calls attach partition %s for values from (%L) to (%L)', made, ledger.first_call(next),
    ledger.first_call((next + interval '1 month')::date));
  execute format('create trigger calls_not_truncated before truncate on %s for each statement execute function ledger.refuse_change()', made);
  insert into ledger.months (month, from_call, before_call)
  values (next, ledger.first_call(next), ledger.first_call((next + interval '1 month')::date));
  return true;
end $$;

revoke all on function ledger.make_month from public;
grant execute on function ledger.make_month to purser_live;
